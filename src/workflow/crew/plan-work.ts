import type { CrewRound, Skipped } from '../../contract/collaboration/crew-report.ts'
import type { Plan } from '../../contract/collaboration/replies.ts'
import { AppError } from '../../contract/errors.ts'
import type { ReviewFinding } from '../../contract/session-file/outputs.ts'
import { planRecord } from '../../core/collaboration/check-plan.ts'
import { estimatedTokens, estimateWords } from '../../core/collaboration/crew-effort.ts'
import {
  challengedPlanPrompt,
  challengeFeedback,
  challengerPrompt,
  planFeedback,
  planPrompt,
  replanPrompt,
} from '../../core/collaboration/plan-prompts.ts'
import { readChallenge, readPlan } from '../../core/collaboration/read-crew-replies.ts'
import { askAgent } from '../../engine/delegation/ask-agent.ts'
import type { Conversation } from '../../engine/delegation/conversation.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import { type Flow, NotApproved } from '../../ports/durable.ts'
import { askPerson } from '../ask-person.ts'
import { announce } from './announce.ts'
import { type CrewInput, type CrewParts, developerMs, type Someone, workerOf } from './crew-parts.ts'
import type { Stages } from './stages.ts'

/** What planning needs. */
export type Planning = {
  readonly parts: CrewParts
  readonly flow: Flow
  readonly stages: Stages
  readonly input: CrewInput
  readonly folder: string
  readonly planner: Someone | undefined
  readonly challenger: Someone | undefined
  readonly checks: readonly string[]
  readonly talk: Conversation
  /** How many developers may work at a time. */
  readonly atOnce: number
  /** Takes note of what was to be done and was not. */
  readonly skip: (skipped: Skipped) => void
}

/** Why the last plan will not do. */
export type Rejection = {
  readonly round: CrewRound
  readonly findings: readonly ReviewFinding[]
  /** Names of earlier tasks. */
  readonly taken: readonly string[]
}

/** The plan of a request, looked at by those who are there for it; without a planner the request is the one task. */
export async function planWork(planning: Planning, n: number, rejection?: Rejection): Promise<Plan> {
  const { stages, flow, input } = planning
  const made = await stages.run('analyze', { key: `analyze-${n}`, inputCount: 1 }, async (at) => {
    const plan = planning.planner ? await asked(planning, { at, n, rejection }) : wholeRequest(input.request)
    return { value: plan, count: plan.tasks.length }
  })
  return stages.run('plan', { key: `plan-${n}`, inputCount: made.tasks.length }, async (at) => {
    const plan = await challenged(planning, { at, n, rejection, plan: made })
    await flow.step(`plan-${n}`, async ({ tell }) => {
      tell(
        draftOf(
          { ...at, actor: planning.planner?.id ?? at.actor },
          'plan.created',
          planRecord(`${flow.id}/plan-${n}`, plan),
        ),
      )
    })
    await goOn(planning, n, plan)
    return { value: plan, count: plan.tasks.length }
  })
}

type Asking = {
  readonly at: Parameters<typeof askAgent>[2]['at']
  readonly n: number
  readonly rejection?: Rejection | undefined
}

async function asked(planning: Planning, { at, n, rejection }: Asking): Promise<Plan> {
  const { input, checks } = planning
  const taken = rejection?.taken ?? []
  const wish = { request: input.request, maxTasks: input.crew.limits.maxTasks, checks, taken }
  const prompt = rejection ? replanPrompt({ ...wish, ...rejection }) : planPrompt(wish)
  return planned(planning, { at, name: `architect-${n}`, prompt, taken })
}

async function planned(
  { parts, flow, input, folder, planner }: Planning,
  { at, name, prompt, taken }: { at: Asking['at']; name: string; prompt: string; taken: readonly string[] },
): Promise<Plan> {
  if (!planner) throw new Error('there is nobody to plan')
  const limits = { maxTasks: input.crew.limits.maxTasks, taken }
  const { end, reply } = await askAgent(parts, flow, {
    at,
    question: {
      name,
      who: workerOf(planner),
      prompt,
      read: (text) => readPlan(text, limits),
      resultSchema: 'reply:plan',
      folder,
      timeoutMs: developerMs(input),
    },
  })
  if (reply) return reply
  const read = readPlan(end.text, limits)
  const why =
    end.status === 'completed' && 'problems' in read
      ? read.problems.join('; ')
      : (end.reason ?? 'it gave none')
  const said = end.text.replaceAll(/\s+/g, ' ').trim().slice(0, 300)
  throw new AppError(
    'failed',
    `${planner.id} made no usable plan: ${why}${said === '' ? '' : `; it said: ${said}`}`,
  )
}

/** Blocking objections go back to the architect, once. */
async function challenged(
  planning: Planning,
  { at, n, rejection, plan }: Asking & { readonly plan: Plan },
): Promise<Plan> {
  const { parts, flow, input, folder, challenger, planner, talk } = planning
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
      folder,
      timeoutMs: developerMs(input),
    },
  })
  if (!reply) {
    planning.skip({
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
    `Your plan was:\n\n\`\`\`json\n${JSON.stringify(plan, null, 2)}\n\`\`\``,
    challengedPlanPrompt(reply),
  ].join('\n\n')
  return planned(planning, { at, name: `architect-${n}-again`, prompt, taken })
}

/** Whoever is to be asked about a plan is; the first one is also what the workflow is going to do. */
async function goOn(planning: Planning, n: number, plan: Plan): Promise<void> {
  const { flow, parts, input, atOnce } = planning
  const { crew } = input
  if (n > 1 && !crew.approvePlan) return
  const { words, tokens } = await flow.step(`estimate-${n}`, async () => {
    const about = {
      tasks: plan.tasks.length,
      reviewers: crew.members.filter(({ duty }) => duty === 'review').length,
      maxIterations: crew.limits.maxIterations,
      atOnce,
      earlier: await parts.earlier(),
      budget: crew.budget,
    }
    return { words: estimateWords(about), tokens: estimatedTokens(about) }
  })
  const ask = crew.approvePlan ? () => approved(flow, { n, plan, estimate: words }) : undefined
  if (n > 1) return ask?.()
  await announce(planning, {
    script: planWords(plan),
    fanOut: Math.min(plan.tasks.length, atOnce),
    estimatedTokens: tokens,
    ask,
  })
}

async function approved(
  flow: Flow,
  { n, plan, estimate }: { readonly n: number; readonly plan: Plan; readonly estimate: string },
): Promise<void> {
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
