import type { AsyncLocalStorage } from 'node:async_hooks'
import type { ScriptBudget } from '../../../ports/scripts.ts'

/** A line of calls that follow each other; what it counts and sees does not depend on the lines beside it. */
export type Branch = {
  readonly path: string
  /** It runs beside others: phases cannot begin in it. */
  readonly isSide: boolean
  nowMs: number
  left: ScriptBudget
  next(kind: string): string
  random(): number
}

export type Branches = {
  readonly here: () => Branch
  /** Runs something in a branch below this one. */
  readonly enter: <T>(path: string, options: { readonly isSide: boolean }, act: () => T) => T
  /** What a branch learned, its own again when those below it have ended. */
  readonly learn: (said: { readonly nowMs: number; readonly left: ScriptBudget }) => void
}

type Beginning = { readonly nowMs: number; readonly seed: string; readonly left: ScriptBudget }

/**
 * Where a script is. This function is sent to another process as text: it may use nothing but what it is given.
 */
export function makeBranches(storage: AsyncLocalStorage<Branch>, { nowMs, seed, left }: Beginning): Branches {
  const drawing = (text: string) => {
    let h = 1779033703 ^ text.length
    for (let i = 0; i < text.length; i++) {
      h = Math.imul(h ^ text.charCodeAt(i), 3432918353)
      h = (h << 13) | (h >>> 19)
    }
    return () => {
      h = (h + 0x6d2b79f5) | 0
      let t = Math.imul(h ^ (h >>> 15), 1 | h)
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296
    }
  }
  const made = (path: string, isSide: boolean, from: Pick<Branch, 'nowMs' | 'left'>): Branch => {
    const counts = new Map<string, number>()
    return {
      path,
      isSide,
      nowMs: from.nowMs,
      left: from.left,
      next(kind) {
        const n = (counts.get(kind) ?? 0) + 1
        counts.set(kind, n)
        return `${path}${kind}#${n}`
      },
      random: drawing(`${seed} ${path}`),
    }
  }
  const root = made('', false, { nowMs, left })
  const here = () => storage.getStore() ?? root
  const least = (a: number | null, b: number | null) => (a === null ? b : b === null ? a : Math.min(a, b))
  return {
    here,
    enter(path, { isSide }, act) {
      const above = here()
      const branch = made(path, isSide || above.isSide, above)
      const up = () => {
        above.nowMs = Math.max(above.nowMs, branch.nowMs)
        above.left = {
          tokens: least(above.left.tokens, branch.left.tokens),
          agents: least(above.left.agents, branch.left.agents),
          usd: least(above.left.usd, branch.left.usd),
        }
      }
      const result = storage.run(branch, act)
      if (result instanceof Promise) result.then(up, up)
      return result
    },
    learn(said) {
      const branch = here()
      branch.nowMs = Math.max(branch.nowMs, said.nowMs)
      branch.left = {
        tokens: least(branch.left.tokens, said.left.tokens),
        agents: least(branch.left.agents, said.left.agents),
        usd: least(branch.left.usd, said.left.usd),
      }
    },
  }
}
