import type { CrewRound } from '../../contract/collaboration/crew-report.ts'
import {
  afterAnswer,
  afterReview,
  answerDecision,
  type Revision,
  revise,
  roundsLeft,
  usualAction,
} from '../../core/collaboration/after-review.ts'
import { settledFindings } from '../../core/collaboration/crew-report.ts'
import { roundPrompt } from '../../core/collaboration/plan-prompts.ts'
import { readRoundReply } from '../../core/collaboration/read-crew-replies.ts'
import type { FlowRoot } from '../../ports/durable.ts'
import { askAboutRounds } from './ask-about-rounds.ts'
import { askArchitect, recordDecision } from './ask-architect.ts'
import type { CrewRun, Ending } from './crew-run.ts'
import type { Standing } from './planned-flow.ts'

/** A round that was not approved. */
type Unapproved = CrewRound & { readonly verdict: 'changes_requested' | 'rejected' }

/** What comes after it: the end, work that fixes what was found, or another plan. */
type AfterRound = Ending | { readonly revisions: readonly Revision[] } | { readonly isReplan: true }

type To = 'revise' | 'replan' | 'force_approve' | 'abort'

/** Decides what becomes of work that a review did not approve, and makes ready what comes next. */
export function iterate(crew: CrewRun, now: Standing, round: Unapproved): Promise<AfterRound> {
  const { phases, state } = crew
  const { number, plan, newest: work } = now
  const findings = state.toFix
  const given = { key: `iterate-${number}`, inputCount: findings.length }
  return phases.run<AfterRound>('iterate', given, async (at) => {
    now.iterations += 1
    const to = await decided(crew, now, { at, round })
    if (to === 'replan') return { value: { isReplan: true }, count: 0, edge: 'analyze' }
    if (to === 'revise') {
      const revisions = revise({ round: number, plan: plan.tasks, work, findings })
      return { value: { revisions }, count: revisions.length, edge: 'delegate' }
    }
    const outcome = to === 'force_approve' ? 'force_approved' : 'unapproved'
    return { value: { outcome, summary: round.summary }, count: 0, edge: 'complete' }
  })
}

type Deciding = { readonly at: FlowRoot; readonly round: Unapproved }

/** The architect decides while there are rounds left; at the limit the crew's file does, or a person where it says so. */
async function decided(crew: CrewRun, now: Standing, { at, round }: Deciding): Promise<To> {
  const { input, state, orchestrator } = crew
  const { number, iterations, maxIterations } = now
  const loop = { verdict: round.verdict, iterations, maxIterations }
  const left = roundsLeft(loop)
  const asked =
    left === 0
      ? undefined
      : await askArchitect(crew, at, {
          name: `round-${number}`,
          prompt: roundPrompt({
            request: input.request,
            round,
            findings: state.toFix,
            usual: usualAction(round.verdict),
            roundsLeft: left,
          }),
          read: readRoundReply,
          resultSchema: 'reply:round',
        })
  const after = afterReview({ ...loop, onLimit: input.crew.onMaxIterations, asked })
  const { next, decision, isByRules } = after
  const by = isByRules ? undefined : orchestrator.agentId
  await recordDecision(crew, { name: `decide-round-${number}`, at, decision, by })
  if (next !== 'human_review') return next
  const { rounds } = state
  const open = settledFindings(rounds).open.map(({ severity, description }) => `${severity}: ${description}`)
  const answer = await askAboutRounds(crew, {
    number,
    action: `No rounds are left and the work is not approved: ${rounds.at(-1)?.summary ?? ''}`,
    reason: open.join('\n'),
    oneMore: 'the findings go back to the developers',
  })
  const said = answerDecision(answer)
  await recordDecision(crew, { name: `answered-${number}`, at, decision: said, by: 'operator' })
  if (answer === 'iterate') now.maxIterations += 1
  return afterAnswer(answer, round.verdict)
}
