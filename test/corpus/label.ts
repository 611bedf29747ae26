import type { Signal } from '../../src/contract/signal.ts'
import type { CorpusCase, Expected } from './corpus-case.ts'
import type { Probe, Sent, Truth } from './world.ts'

const minute = 60_000

/**
 * The label of a probe of which only some signals arrived. The truth stands as long as one signal that
 * tells it arrived. Otherwise nobody could know, and a careful person names the last state that was
 * told, with doubt once it is old.
 */
export function label(probe: Probe, kept: readonly Sent[]): Pick<CorpusCase, 'expected' | 'undecidable'> {
  const ids = new Set(kept.map(({ id }) => id))
  const told = probe.truths.findLast((truth) => truth.witnesses.size === 0 || isTold(truth, ids))
  const last = probe.truths.at(-1)
  const knowsAll = probe.completion?.needs.every((group) => group.some((id) => ids.has(id))) ?? false
  const complete = knowsAll && told === last
  if (!told || !last) return { expected: { lifecycle: 'starting', complete: false } }
  const lastHeard = Math.max(...kept.map(({ signal }) => signal.at), 0)
  const expected = doubted({ ...known(told, kept), complete }, probe.now - lastHeard)
  const isSame =
    expected.lifecycle === last.expected.lifecycle &&
    (expected.health ?? 'ok') === (last.expected.health ?? 'ok')
  if (!isSame)
    return {
      expected,
      undecidable: told === last ? 'nothing was heard for long' : 'every signal that told it was lost',
    }
  const isMissed = probe.completion !== undefined && !complete
  return isMissed ? { expected, undecidable: 'how it ended or what it said was lost' } : { expected }
}

const isTold = (truth: Truth, ids: ReadonlySet<number>): boolean =>
  [...truth.witnesses].some((id) => ids.has(id))

/** A screen tells that something works, not what. */
function known(truth: Truth, kept: readonly Sent[]): Omit<Expected, 'complete'> {
  const tellers = kept.filter(({ id }) => truth.witnesses.has(id)).map(({ signal }) => signal)
  if (!tellers.every(isShown)) return truth.expected
  const { activity: _activity, ...rest } = truth.expected
  return rest
}

const isShown = (signal: Signal): boolean => signal.source === 'pane' || signal.source === 'process'

function doubted(expected: Expected, silentMs: number): Expected {
  const { activity, waitingFor, ...rest } = expected
  if (expected.lifecycle !== 'running' || expected.health !== 'ok' || waitingFor === 'background')
    return expected
  if (silentMs < (activity === 'calling_tool' ? 10 : 3) * minute) return expected
  const isIdle = activity !== 'calling_tool' && silentMs >= 10 * minute
  return { ...rest, lifecycle: isIdle ? 'idle' : 'running', health: 'stale' }
}
