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
import { askerOf, mayAct, seenBy, sees } from './who-may.ts'

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
  refuseBeyondParents(given, state, ask)
  const kind = kindOf(kinds, { origin: state.managed?.origin ?? null })
  await kind.decide(state, ask, { decision: decisionOf(given), by: askerOf(engine, given.principal) })
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
 * money, what lands and workflows are a person's, and so is what is allowed from then on.
 */
function refuseBeyondParents(
  { principal, verdict, scope }: Given,
  { managed }: Readonly<SessionState>,
  { subject }: OpenApproval,
): void {
  if (principal.kind !== 'session') return
  if (verdict === 'allow' && scope !== 'once')
    throw new AppError('denied', 'only a person allows something for longer than once; leave out the scope')
  if (ofParents.has(subject) && managed?.origin !== 'workflow') return
  throw new AppError(
    'denied',
    `only a person decides this (${subject}); a parent decides plans, ends and answers questions`,
  )
}

const decisionOf = ({ verdict, scope, reason, answers }: Given): Decision =>
  verdict === 'allow'
    ? { verdict, scope, ...(answers && { answers }) }
    : { verdict, ...(reason !== undefined && { reason }) }

type Pending = { readonly state: Readonly<SessionState>; readonly ask: OpenApproval }

/** An approval by its id, or the only one of a session; two are listed, never guessed. */
async function pendingAsk(deps: Deps, { id: word, principal }: Given): Promise<Pending> {
  const { directory, engine, kinds } = deps
  const isApproval = word.startsWith('apr_')
  const row = await directory.find(isApproval ? await askerNamed(deps, word, principal) : word, principal)
  await mayAct(directory, principal, { sessionId: row.sessionId, isOwnAllowed: false })
  await kindOf(kinds, row).reread(row)
  const state = engine.session(row.sessionId)
  const asks = state?.asks ?? []
  const ask = isApproval ? await askNamed(deps, asks, word) : onlyAsk(asks)
  if (!state || !ask) throw new AppError('conflict', `${titleOf(row)} is not waiting for a decision`)
  return { state, ask }
}

/** The session that an approval is of, decided or not. */
async function askerNamed({ directory, engine }: Deps, word: string, principal: Principal): Promise<string> {
  for (const state of engine.sessions())
    if (state.asks?.some(({ approvalId }) => approvalId === word))
      if (await sees(directory, principal, state.sessionId)) return state.sessionId
  await directory.caughtUp()
  const [found] = await directory.ask('approvals', { approvalId: word, limit: 1 })
  if (found && (await seenBy(directory, principal, found))) return found.sessionId
  throw new AppError('not_found', `there is no approval ${word}; see: sm approvals --all`)
}

/** The approval itself; where a restart ended it and the same is asked again since, that one. */
async function askNamed(
  { directory }: Deps,
  asks: readonly OpenApproval[],
  word: string,
): Promise<OpenApproval> {
  const itself = asks.find(({ approvalId }) => approvalId === word)
  if (itself) return itself
  await directory.caughtUp()
  const [before] = await directory.ask('approvals', { approvalId: word, limit: 1 })
  for (const ask of before?.decision === 'expired' ? asks : []) {
    const [now] = await directory.ask('approvals', { approvalId: ask.approvalId, limit: 1 })
    if (now && now.subject === before?.subject && now.action === before.action) return ask
  }
  // Read from a screen, the same may look different: nobody but a person can tell.
  if (before?.decision === 'expired' && asks.length > 0)
    throw new AppError(
      'conflict',
      `${word} is over; what is asked now is ${asks.map(({ approvalId }) => approvalId).join(', ')}, see: sm approvals`,
    )
  throw new AppError('conflict', `${word} has already been decided; see: sm approvals --all`)
}

function onlyAsk(asks: readonly OpenApproval[]): OpenApproval | undefined {
  if (asks.length > 1)
    throw new AppError(
      'conflict',
      `${asks.length} decisions wait: ${asks.map(({ approvalId, subject }) => `${approvalId} (${subject})`).join(', ')}; name one`,
    )
  return asks[0]
}
