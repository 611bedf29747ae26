/** Who may change files of a workspace at the same time. */
export type WorkspaceTurns = {
  /** Beside others of its kind. */
  shared<T>(workspace: string, signal: AbortSignal, act: () => Promise<T>): Promise<T>
  /** With nobody beside it: what it finds changed afterwards was changed by it. */
  alone<T>(workspace: string, signal: AbortSignal, act: () => Promise<T>): Promise<T>
}

type Waiting = { readonly isAlone: boolean; readonly begin: () => void }
type Turn = { active: number; isAlone: boolean; readonly waiting: Waiting[] }

/** Turns in the order in which they were asked for. */
export function workspaceTurns(): WorkspaceTurns {
  const turns = new Map<string, Turn>()

  const pass = (workspace: string, turn: Turn): void => {
    for (;;) {
      const [next] = turn.waiting
      if (!next) break
      if (turn.active > 0 && (turn.isAlone || next.isAlone)) return
      turn.waiting.shift()
      turn.active += 1
      turn.isAlone = next.isAlone
      next.begin()
    }
    if (turn.active === 0) turns.delete(workspace)
  }

  const take =
    (isAlone: boolean): WorkspaceTurns['shared'] =>
    async (workspace, signal, act) => {
      signal.throwIfAborted()
      const turn = turns.get(workspace) ?? { active: 0, isAlone: false, waiting: [] }
      turns.set(workspace, turn)
      await new Promise<void>((resolve, reject) => {
        const giveUp = () => {
          turn.waiting.splice(turn.waiting.indexOf(waiting), 1)
          pass(workspace, turn)
          reject(signal.reason as Error)
        }
        const waiting = {
          isAlone,
          begin: () => {
            signal.removeEventListener('abort', giveUp)
            resolve()
          },
        }
        signal.addEventListener('abort', giveUp, { once: true })
        turn.waiting.push(waiting)
        pass(workspace, turn)
      })
      try {
        return await act()
      } finally {
        turn.active -= 1
        pass(workspace, turn)
      }
    }

  return { shared: take(false), alone: take(true) }
}
