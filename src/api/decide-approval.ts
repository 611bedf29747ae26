import type { Decision } from '../contract/decision.ts'
import { AppError } from '../contract/errors.ts'
import type { Principal } from '../contract/principal.ts'
import type { ApprovalView } from '../contract/session-views.ts'
import type { OpenApproval } from '../core/approvals/open-approvals.ts'
import type { SessionState } from '../core/session/state.ts'
import type { Engine } from '../engine/engine.ts'
import type { Directory } from './directory.ts'
import { kindOf, type SessionKinds, titleOf } from './session-kinds/session-kind.ts'
import { approvalView } from './session-views.ts'
import { mayAct, nameOf } from './who-may.ts'

type Deps = { readonly directory: Directory; readonly engine: Engine; readonly kinds: SessionKinds }

type Given = {
  readonly id: string
  readonly verdict: 'allow' | 'deny'
  readonly scope: 'once' | 'session' | 'always'
  readonly reason?: string | undefined
  readonly answers?: Record<string, string> | undefined
  readonly principal: Principal
}

/** Decides a question; the kind of its session does what was agreed to. */
export async function decideApproval(deps: Deps, given: Given): Promise<ApprovalView> {
  const { directory, engine, kinds } = deps
  const { state, ask } = await pendingAsk(deps, given)
  refuseBeyondParents(given.principal, state, ask)
  const kind = kindOf(kinds, { origin: state.managed?.origin ?? null })
  await kind.decide(state, ask, { decision: decisionOf(given), by: nameOf(engine, given.principal) })
  await directory.caughtUp()
  const [row] = await directory.ask('approvals', { approvalId: ask.approvalId, limit: 1 })
  if (!row)
    throw new AppError(
      'unavailable',
      'the decision is recorded, but the index is behind; see: sm approvals --all',
    )
  return approvalView(directory, row)
}

const ofParents: ReadonlySet<string> = new Set(['plan', 'termination', 'question'])

/**
 * A parent decides what a session that it started plans and when it ends, and answers what it asks in words; tools,
 * money, what lands and workflows are a person's.
 */
function refuseBeyondParents(
  principal: Principal,
  { managed }: Readonly<SessionState>,
  { subject }: OpenApproval,
): void {
  if (principal.kind !== 'session' || (ofParents.has(subject) && managed?.origin !== 'workflow')) return
  throw new AppError(
    'denied',
    `only a person decides this (${subject}); a parent decides plans, ends and answers questions`,
  )
}

const decisionOf = ({ verdict, scope, reason, answers }: Given): Decision =>
  verdict === 'allow'
    ? { verdict, scope, ...(answers && { answers }) }
    : { verdict, ...(reason !== undefined && { reason }) }

/** An approval by its id, or the only one of a session; two are listed, never guessed. */
async function pendingAsk(
  { directory, engine }: Deps,
  { id: word, principal }: Given,
): Promise<{ readonly state: Readonly<SessionState>; readonly ask: OpenApproval }> {
  for (const state of engine.sessions()) {
    const ask = state.asks?.find(({ approvalId }) => approvalId === word)
    if (!ask) continue
    await mayAct(directory, principal, { sessionId: state.sessionId, isOwnAllowed: false })
    return { state, ask }
  }
  if (word.startsWith('apr_')) {
    await directory.caughtUp()
    const [row] = await directory.ask('approvals', { approvalId: word, limit: 1 })
    throw row
      ? new AppError('conflict', `${word} has already been decided; see: sm approvals --all`)
      : new AppError('not_found', `there is no approval ${word}; see: sm approvals --all`)
  }
  const row = await directory.find(word, principal)
  await mayAct(directory, principal, { sessionId: row.sessionId, isOwnAllowed: false })
  const state = engine.session(row.sessionId)
  const asks = state?.asks ?? []
  const [ask] = asks
  if (!state || !ask) throw new AppError('conflict', `${titleOf(row)} is not waiting for a decision`)
  if (asks.length > 1)
    throw new AppError(
      'conflict',
      `${asks.length} decisions wait: ${asks.map(({ approvalId, subject }) => `${approvalId} (${subject})`).join(', ')}; name one`,
    )
  return { state, ask }
}
