import * as z from 'zod'
import { AppError } from '../../contract/errors.ts'
import type { ToolContext } from '../../ports/tools.ts'
import type { Place } from '../system/place.ts'

/** How globs are read; one meaning for gates and tools. */
export type MatchesGlob = (path: string, glob: string) => boolean

/** Whether a path lies within every limit. */
export const isWithin = (path: string, limits: ToolContext['writable'], matchesGlob: MatchesGlob): boolean =>
  limits.every((globs) => globs.some((glob) => matchesGlob(path, glob)))

/** The gates looked before; a link may have been put into the path since. */
export function mustBeChangeable({ relative }: Place, context: ToolContext, matchesGlob: MatchesGlob): void {
  const { mayChange, writable } = context
  if (!mayChange)
    throw new AppError('denied', `${relative} may not be changed; report what should be done instead`)
  if (relative === '') throw new AppError('invalid', 'this is the folder of the project; name a file in it')
  const broken = writable.find((globs) => !isWithin(relative, [globs], matchesGlob))
  if (broken)
    throw new AppError(
      'denied',
      `${relative} is outside what may be changed (${broken.join(', ')}); leave it as it is`,
    )
  // Hooks and settings in there are programs that run later and outside of any gate.
  if (relative.toLowerCase().split('/').includes('.git'))
    throw new AppError('denied', `${relative} belongs to git; change it by running git`)
}

/** A path as a model writes it. */
export const FilePath = z
  .string()
  .min(1)
  .max(4096)
  .refine((path) => !path.includes('\0'), 'a path has no NUL character')

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
