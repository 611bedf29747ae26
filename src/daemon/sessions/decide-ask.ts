import type { Decision } from '../../contract/decision.ts'
import { AppError } from '../../contract/errors.ts'
import type { AgentEvent } from '../../contract/event.ts'
import type { Principal } from '../../contract/principal.ts'
import type { ApprovalView } from '../../contract/session-views.ts'
import type { OpenApproval } from '../../core/approvals/open-approvals.ts'
import { raisedBudget } from '../../core/ledger/budget.ts'
import type { SessionState } from '../../core/session/state.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Said } from '../../engine/sessions/closing.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { Live } from '../../engine/sessions/sessions.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Workflows } from '../../workflow/workflows.ts'
import { approvalView } from './approval-view.ts'
import type { Directory } from './directory.ts'
import { mayAct, nameOf } from './may-act.ts'
import type { SessionHost } from './session-host.ts'

type Deps = {
  readonly directory: Directory
  readonly engine: Engine
  readonly host: SessionHost
  readonly runtime: Runtime
  readonly workflows: Workflows
}

type Given = {
  readonly id: string
  readonly verdict: 'allow' | 'deny'
  readonly scope: 'once' | 'session' | 'always'
  readonly reason?: string | undefined
  readonly answers?: Record<string, string> | undefined
  readonly principal: Principal
}

/** Decides a question, and does what was agreed to: more budget, or the end. */
export async function decideAsk(deps: Deps, given: Given): Promise<ApprovalView> {
  const { directory, engine, host } = deps
  const { verdict, principal } = given
  const { state, ask } = await pendingAsk(deps, given)
  const decided = { decision: decisionOf(given), by: nameOf(engine, principal) }
  const written = async () => {
    await directory.caughtUp()
    const [row] = await directory.ask('approvals', { approvalId: ask.approvalId, limit: 1 })
    if (!row) throw new AppError('unavailable', 'the decision is written; the index has not taken it yet')
    return row
  }
  if (state.managed?.origin === 'workflow' && ask.subject !== 'tool' && ask.subject !== 'question') {
    await refuseOther(directory, ask, given.answers)
    await deps.workflows.decide(state, ask, decided)
    return approvalView(directory, await written())
  }
  if (state.managed?.origin === 'runtime' || state.managed?.origin === 'workflow') {
    await deps.runtime.decide(state, ask, decided)
    return approvalView(directory, await written())
  }
  const { sessions } = await host.open()
  const live = directory.live(await directory.find(state.sessionId))
  await sessions.approvals.decide(live.watch, ask, decided)
  if (ask.subject === 'budget' && verdict === 'allow') await giveMore(deps, live)
  const row = await written()
  if (ask.subject === 'termination' && verdict === 'allow') {
    await sessions.complete(live, proposedEnd(await directory.event(row.seq)))
    await sessions.terminate(live)
  }
  return approvalView(directory, row)
}

/** A word that is no answer would be taken for the first of them. */
async function refuseOther(
  directory: Directory,
  { approvalId }: OpenApproval,
  answers: Readonly<Record<string, string>> = {},
): Promise<void> {
  if (Object.keys(answers).length === 0) return
  await directory.caughtUp()
  const [row] = await directory.ask('approvals', { approvalId, limit: 1 })
  const { options } = await approvalView(directory, row as NonNullable<typeof row>)
  const other = Object.values(answers).find((answer) => !options.includes(answer))
  if (other !== undefined)
    throw new AppError('invalid', `${other} is no answer to this; there are: ${options.join(', ')}`)
}

const decisionOf = ({ verdict, scope, reason, answers }: Given): Decision =>
  verdict === 'allow'
    ? { verdict, scope, ...(answers && { answers }) }
    : { verdict, ...(reason !== undefined && { reason }) }

/** As much again as there was, from where it stands. */
async function giveMore({ directory, engine }: Deps, { watch, delivery }: Live): Promise<void> {
  const budget = engine.session(watch.id)?.managed?.budget
  const [sum] = await directory.ask('usage', { sessionId: watch.id, isSubtree: true })
  const used = { tokens: sum?.tokens ?? 0, usd: sum?.costUsd ?? null }
  if (budget)
    await watch.say([draftOf(watch.root, 'session.updated', { budget: raisedBudget(budget, used) })])
  delivery.poke()
}

/** The end that was agreed to: its words and what it rests on, as they were when it was asked. */
function proposedEnd(asked: AgentEvent | undefined): Said {
  if (asked?.type !== 'approval.requested') return { status: 'completed' }
  const { scope, detected } = asked.payload
  const message = (scope as { message?: unknown } | undefined)?.message
  return { status: 'completed', detected, ...(typeof message === 'string' && { message }) }
}

/** An approval by its id, or the only one of a session; two are listed, never guessed. */
async function pendingAsk(
  { directory, engine }: Deps,
  { id: word, principal }: Given,
): Promise<{ readonly state: Readonly<SessionState>; readonly ask: OpenApproval }> {
  for (const state of engine.sessions()) {
    const ask = state.asks?.find(({ approvalId }) => approvalId === word)
    if (!ask) continue
    mayAct(engine, principal, { sessionId: state.sessionId, isOwnAllowed: false })
    return { state, ask }
  }
  if (word.startsWith('apr_')) {
    await directory.caughtUp()
    const [row] = await directory.ask('approvals', { approvalId: word, limit: 1 })
    throw row
      ? new AppError('conflict', `${word} is decided already; see: sm approvals --all`)
      : new AppError('not_found', `there is no approval ${word}; see: sm approvals --all`)
  }
  const row = await directory.find(word)
  mayAct(engine, principal, { sessionId: row.sessionId, isOwnAllowed: false })
  const state = engine.session(row.sessionId)
  const asks = state?.asks ?? []
  const [ask] = asks
  if (!state || !ask)
    throw new AppError(
      'conflict',
      `nothing of ${row.friendlyName ?? row.name ?? row.shortId} waits for a decision`,
    )
  if (asks.length > 1)
    throw new AppError(
      'conflict',
      `${asks.length} decisions wait: ${asks.map(({ approvalId, subject }) => `${approvalId} (${subject})`).join(', ')}; name one`,
    )
  return { state, ask }
}
