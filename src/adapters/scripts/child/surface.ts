import type { Branches } from './branches.ts'

type Task = () => unknown
type Stage = (value: unknown, item: unknown, i: number) => unknown
type Options = Record<string, unknown>
type Vote = { readonly verdict: string; readonly evidence: unknown; readonly by: string }

/** Asks the daemon for something and gives what it answers. */
export type Ask = (call: Record<string, unknown>) => Promise<unknown>

/**
 * What a script is given. Sent to another process as text: it may use nothing but what it is given.
 */
export function makeSurface(branches: Branches, ask: Ask): Record<string, unknown> {
  const { here, enter } = branches
  const most = 10_000

  const listed = (items: unknown, what: string): unknown[] => {
    if (!Array.isArray(items)) throw new TypeError(`${what} takes an array`)
    if (items.length > most) throw new RangeError(`${what} takes at most ${most} at a time`)
    return items
  }
  const countOf = (value: unknown): number =>
    Array.isArray(value) ? value.length : value === undefined || value === null ? 0 : 1
  const textOf = (value: unknown): string =>
    typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))

  /** All of them end before anybody is told; what failed is told then, with what did not. */
  const barrier = async (id: string, acts: readonly Task[]): Promise<unknown[]> => {
    const settled = await Promise.allSettled(
      acts.map((act, i) => enter(`${id}[${i}]/`, { isSide: true }, async () => act())),
    )
    const results = settled.map((one) => (one.status === 'fulfilled' ? one.value : undefined))
    const errors = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
    if (errors.length === 0) return results
    const [first] = errors
    const message = first instanceof Error ? first.message : String(first)
    throw Object.assign(
      new AggregateError(errors, `${errors.length} of ${acts.length} in ${id} failed: ${message}`),
      { results, settled },
    )
  }

  const phase = async (name: string, act?: () => unknown, { inputs }: { inputs?: unknown } = {}) => {
    const branch = here()
    if (branch.isSide)
      throw new Error(`phase ${name} cannot start inside parallel; put the parallel call into the phase`)
    const path = branch.next(`phase:${name}`)
    const inputCount =
      typeof inputs === 'number' ? inputs : inputs === undefined ? undefined : countOf(inputs)
    const isBlock = act !== undefined
    await ask({ kind: 'phase', path, name, isBlock, ...(inputCount !== undefined && { inputCount }) })
    if (!act) return undefined
    try {
      const value = await enter(`${path}/`, { isSide: false }, async () => act())
      await ask({ kind: 'phase-end', path: `${path}:end`, outputCount: countOf(value) })
      return value
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      await ask({ kind: 'phase-end', path: `${path}:end`, outputCount: 0, error: message })
      throw error
    }
  }

  const verify = async (claims: unknown, { votes = 1, ...options }: Options & { votes?: number } = {}) => {
    if (!Number.isInteger(votes) || votes < 1 || votes > 15) throw new RangeError('votes must be 1 to 15')
    const id = here().next('verify')
    const judged = (claim: unknown, i: number) => async () => {
      const given = (typeof claim === 'object' && claim !== null ? claim : { claim }) as Options
      const text = textOf(given['claim'] ?? given['text'] ?? given)
      const { evidence, by } = given
      const asked = {
        id: typeof given['id'] === 'string' ? given['id'] : `${id}[${i}]`,
        text,
        ...(evidence !== undefined && { evidence }),
        ...(typeof by === 'string' && { by }),
      }
      const said = (await Promise.all(
        Array.from({ length: votes }, () =>
          ask({ kind: 'verify', path: here().next('vote'), claim: asked, options }),
        ),
      )) as Vote[]
      const isMost = (verdict: string) => said.filter((one) => one.verdict === verdict).length * 2 > votes
      const verdict = ['supported', 'refuted'].find(isMost) ?? 'inconclusive'
      return { id: asked.id, claim, verdict, votes: said }
    }
    return barrier(
      id,
      listed(claims, 'verify').map((claim, i) => judged(claim, i)),
    )
  }

  return {
    agent: (task: unknown, options: Options = {}) =>
      ask({
        kind: 'agent',
        path: here().next('agent'),
        // A DeveloperInput or a ReviewerInput is handed over as the data that it is.
        task: typeof task === 'object' && task !== null ? textOf(task) : task,
        options,
      }),
    parallel: async (tasks: unknown) => {
      const acts = listed(tasks, 'parallel')
      if (!acts.every((act): act is Task => typeof act === 'function'))
        throw new TypeError('parallel takes functions: parallel(items.map((item) => () => agent(…)))')
      return barrier(here().next('parallel'), acts)
    },
    pipeline: async (items: unknown, ...given: unknown[]) => {
      const values = listed(items, 'pipeline')
      const stages: unknown[] = given.length === 1 && Array.isArray(given[0]) ? given[0] : given
      // Told at once: an item that is halfway through has cost something by then.
      if (!stages.every((stage): stage is Stage => typeof stage === 'function'))
        throw new TypeError('pipeline takes functions: pipeline(items, first, second), or as one array')
      return barrier(
        here().next('pipeline'),
        values.map((item, i) => async () => {
          let value = item
          for (const stage of stages) value = await stage(value, item, i)
          return value
        }),
      )
    },
    phase,
    checkpoint: (state: unknown) => ask({ kind: 'checkpoint', path: here().next('checkpoint'), state }),
    approve: (question: unknown, { options }: { options?: unknown } = {}) =>
      ask({
        kind: 'approve',
        path: here().next('approve'),
        question,
        ...(options !== undefined && { options }),
      }),
    verify,
    budget: Object.freeze({
      get remaining() {
        return { ...here().left }
      },
    }),
    log: (...words: unknown[]) => {
      const text = words.map(textOf).join(' ')
      ask({ kind: 'log', path: here().next('log'), text }).catch(() => {})
    },
  }
}
