import type { CrewRound } from '../../contract/collaboration/crew-report.ts'
import type { Plan } from '../../contract/collaboration/replies.ts'
import { AppError } from '../../contract/errors.ts'
import type { ReviewFinding } from '../../contract/session-file/outputs.ts'
import { planRecord } from '../../core/collaboration/check-plan.ts'
import { estimateWords } from '../../core/collaboration/crew-effort.ts'
import {
  challengedPlanPrompt,
  challengeFeedback,
  challengerPrompt,
  planFeedback,
  planPrompt,
  replanPrompt,
} from '../../core/collaboration/plan-prompts.ts'
import { readChallenge, readPlan } from '../../core/collaboration/read-crew-replies.ts'
import { fencedJson } from '../../core/delegation/prompt-parts.ts'
import { requiredChecks } from '../../core/delegation/required-checks.ts'
import { askAgent } from '../../engine/delegation/ask-agent.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import { type FlowRoot, NotApproved } from '../../ports/durable.ts'
import { askPerson } from '../ask-person.ts'
import { consult, silenceOf } from './ask-architect.ts'
import { folderOf, workerOf } from './crew-parts.ts'
import type { CrewRun } from './crew-run.ts'

/** Why the last plan will not do. */
type Rejection = {
  readonly round: CrewRound
  readonly findings: readonly ReviewFinding[]
  /** Names of earlier tasks. */
  readonly taken: readonly string[]
}

/**
 * The plan of a request, from the architect or, without one, the request as the one task; looked at by those who are
 * there for it, and approved by a person where the crew asks for that.
 */
export async function makePlan(crew: CrewRun, n: number, rejection?: Rejection): Promise<Plan> {
  const { phases, flow, planner, input, orchestrator } = crew
  const made = await phases.run('analyze', { key: `analyze-${n}`, inputCount: 1 }, async (at) => {
    const plan = planner ? await asked(crew, { at, n, rejection }) : wholeRequest(input.request)
    return { value: plan, count: plan.tasks.length }
  })
  return phases.run('plan', { key: `plan-${n}`, inputCount: made.tasks.length }, async (at) => {
    const plan = await challenged(crew, { at, n, rejection, plan: made })
    await flow.step(`plan-${n}`, async ({ tell }) => {
      tell(
        draftOf(
          { ...at, actor: planner ? orchestrator.agentId : at.actor },
          'plan.created',
          planRecord(`${flow.id}/plan-${n}`, plan),
        ),
      )
    })
    if (input.crew.approvePlan) await approve(crew, n, plan)
    return { value: plan, count: plan.tasks.length }
  })
}

type Asking = {
  readonly at: FlowRoot
  readonly n: number
  readonly rejection?: Rejection | undefined
}

async function asked(crew: CrewRun, { at, n, rejection }: Asking): Promise<Plan> {
  const { request, crew: settings } = crew.input
  const checks = requiredChecks(settings.checks, undefined).map(({ command }) => command)
  const taken = rejection?.taken ?? []
  const wish = { request, maxTasks: settings.limits.maxTasks, checks, taken }
  const prompt = rejection ? replanPrompt({ ...wish, ...rejection }) : planPrompt(wish)
  return planned(crew, { at, name: `architect-${n}`, prompt, taken })
}

type Consulting = {
  readonly at: FlowRoot
  readonly name: string
  readonly prompt: string
  readonly taken: readonly string[]
}

async function planned(crew: CrewRun, { at, name, prompt, taken }: Consulting): Promise<Plan> {
  const { planner, input } = crew
  if (!planner) throw new Error('there is nobody to plan')
  const limits = { maxTasks: input.crew.limits.maxTasks, taken }
  const read = (text: string) => readPlan(text, limits)
  const asked = { name, prompt, read, resultSchema: 'reply:plan' }
  const answered = await consult(crew, planner, { at, asked })
  if (answered.reply) return answered.reply
  const said = answered.end.text.replaceAll(/\s+/g, ' ').trim().slice(0, 300)
  throw new AppError(
    'failed',
    `${planner.id} made no usable plan: ${silenceOf(answered)}${said === '' ? '' : `; it said: ${said}`}`,
  )
}

/** Blocking objections go back to the architect, once. */
async function challenged(
  crew: CrewRun,
  { at, n, rejection, plan }: Asking & { readonly plan: Plan },
): Promise<Plan> {
  const { parts, flow, input, path, challenger, planner, talk, state } = crew
  if (!challenger || !planner) return plan
  talk.join({ agentId: challenger.id, agentType: challenger.member.role })
  const shown = await talk.say(flow, `show-plan-${n}`, {
    utterance: { from: planner.id, to: challenger.id, type: 'feedback', payload: planFeedback(plan) },
  })
  const { end, reply } = await askAgent(parts, flow, {
    at,
    question: {
      name: `challenger-${n}`,
      who: workerOf(challenger),
      prompt: challengerPrompt(input.request, plan),
      read: readChallenge,
      resultSchema: 'reply:challenger',
      folder: folderOf(input, path),
      timeoutMs: crew.developerMs,
    },
  })
  if (!reply) {
    state.skipped.push({
      what: `the look at the plan by ${challenger.id}`,
      why: end.reason ?? 'it gave no answer that can be read',
    })
    return plan
  }
  await talk.say(flow, `challenge-${n}`, {
    utterance: {
      from: challenger.id,
      to: planner.id,
      type: 'feedback',
      payload: challengeFeedback(reply),
      replyTo: shown,
    },
  })
  if (reply.verdict === 'go') return plan
  const taken = rejection?.taken ?? []
  const prompt = [
    planPrompt({ request: input.request, maxTasks: input.crew.limits.maxTasks, taken }),
    `Your plan was:\n\n${fencedJson(plan)}`,
    challengedPlanPrompt(reply),
  ].join('\n\n')
  return planned(crew, { at, name: `architect-${n}-again`, prompt, taken })
}

/** Asks a person about a plan, with what it will take; a plan that is not approved ends the crew. */
async function approve({ flow, parts, input, atOnce }: CrewRun, n: number, plan: Plan): Promise<void> {
  const { crew } = input
  const estimate = await flow.step(`estimate-${n}`, async () =>
    estimateWords({
      tasks: plan.tasks.length,
      reviewers: crew.members.filter(({ duty }) => duty === 'review').length,
      maxIterations: crew.limits.maxIterations,
      atOnce,
      earlier: await parts.earlier(),
      budget: crew.budget,
    }),
  )
  const decision = await askPerson(flow, `approve-plan-${n}`, {
    subject: 'plan',
    action: `${planWords(plan)}\n\n${estimate}`,
    scope: plan,
    risk: 'low',
    options: ['approve', 'reject'],
  })
  if (decision.verdict === 'deny') throw new NotApproved('the plan', decision.reason)
}

const planWords = ({ summary, tasks }: Plan): string =>
  [
    summary,
    '',
    ...tasks.map(
      ({ task_id, title, scope, depends_on }) =>
        `- ${task_id}: ${title} (${scope.join(', ')})${depends_on.length > 0 ? `, after ${depends_on.map((one) => one.task_id).join(', ')}` : ''}`,
    ),
  ].join('\n')

/** The plan of a crew without an architect. */
const wholeRequest = (request: string): Plan => ({
  summary: request.split('\n', 1)[0] ?? request,
  tasks: [
    {
      task_id: 'request',
      title: (request.split('\n', 1)[0] ?? request).slice(0, 200) || 'The request',
      description: request,
      scope: ['**'],
      depends_on: [],
      acceptance_criteria: [],
      priority: 'medium',
      testing_required: true,
    },
  ],
})
