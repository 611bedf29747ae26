import type { Draft } from '../../contract/event.ts'
import type { Lifecycle } from '../../contract/values.ts'
import type { Verdict } from '../../core/session/evidence/verdict.ts'
import { draftOf, type Root } from './drafts.ts'

type Change = {
  readonly from: Lifecycle
  readonly to: Lifecycle
  readonly verdict: Verdict
  readonly agentId: string
}

/** What is written when a session is found in another state. */
export function changedState(root: Root, { from, to, verdict, agentId }: Change): Draft[] {
  const changed = draftOf(root, 'session.state.changed', {
    from,
    to,
    activity: verdict.activity,
    evidence: verdict.because.slice(0, 3).map(({ signal, ageMs }) => ({
      signal,
      ageMs: Math.max(0, Math.round(ageMs)),
      confidence: verdict.confidence,
    })),
    ...(verdict.waitingFor && { detail: `waits for ${verdict.waitingFor}` }),
  })
  if (to !== 'waiting_input' || from === 'waiting_input') return [changed]
  const waitsFor = verdict.waitingFor === 'permission' ? 'permission' : 'input'
  return [changed, draftOf(root, 'agent.waiting', { agentId, waitsFor })]
}
