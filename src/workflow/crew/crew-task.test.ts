import { expect, test } from 'vitest'
import { manualClock } from '../../../test/http/manual-clock.ts'
import type { DurableBed } from '../../../test/suites/durable.ts'
import { planTask } from '../../../test/support/collaboration.ts'
import { openQuickBed } from '../../../test/support/local-bed.ts'
import { AppError } from '../../contract/errors.ts'
import type { EventOf, EventType } from '../../contract/event.ts'
import { Conversation } from '../../engine/delegation/conversation.ts'
import type { Flow, Procedure } from '../../ports/durable.ts'
import type { Work, WorkEnd } from '../../ports/workers.ts'
import type { CrewRun } from './crew-run.ts'
import { type Attempt, taskProcedure } from './crew-task.ts'

const attempt = {
  work: { task: planTask('t1'), attempts: [] },
  number: 1,
  who: { id: 'dev-1', member: { role: 'developer', agent: 'developer', cli: 'own', guidelines: [] } },
  timeoutMs: 60_000,
  worktree: { path: '/w', branch: 'b', base: 'c' },
  needs: [],
  checks: [],
} as unknown as Attempt

const architect = { agentId: 'arch', agentType: 'architect' }

const talkIn = (flow: Flow) =>
  Conversation.open({ engine: {}, events: async function* () {} } as never, flow, {
    coordinators: [architect],
    others: [{ agentId: 'dev-1', agentType: 'developer' }],
  })

/** One developer at one task, whose worker is up to the test, as is what git does when the work is collected. */
const developing = (
  run: (work: Work) => Promise<WorkEnd>,
  changes: () => Promise<object> = async () => none,
) =>
  openQuickBed(() => [
    {
      name: 'one',
      version: '1',
      async run(flow) {
        const clock = manualClock()
        const branches = {
          openWorktree: async () => {},
          head: async () => ({ commit: 'c0' }),
          changes,
          commitAll: async () => undefined,
        }
        const talk = await talkIn(flow)
        const parts = { workers: { run }, clock, branches, checks: {}, onBug: () => {} }
        const crew = {
          parts: { ...parts, worktrees: '/trees' },
          input: { crew: { limits: { maxIterations: 3, progressSeconds: 30 } }, repo: { inside: '' } },
          orchestrator: architect,
          reviewerMs: 1000,
          opened: new Map(),
          delegationParts: () => ({ ...parts, talk, roundsAt: () => flow.root() }),
        } as unknown as CrewRun
        const { spanId: nodeId } = flow.root()
        return flow.child('r1/t1#1', taskProcedure(crew), { ...attempt, nodeId }).result()
      },
    } satisfies Procedure<null, unknown> as Procedure<never, unknown>,
  ])
const none = { files: [], diff: '' }

const performed = async (bed: DurableBed) => {
  await bed.durable().start('one', { id: 'w', input: null, at: await bed.place() })
  const result = await bed.durable().result('w')
  const events = await bed.events()
  const of = <T extends EventType>(type: T) =>
    events.filter((event): event is EventOf<T> => event.type === type)
  return { result, of }
}

test('[MUS-282] an agent that is never started has no acknowledgment: the assignment fails, and so does the task', async () => {
  const bed = await developing(() =>
    Promise.reject(new AppError('limited', 'the limit of 4 sessions is reached')),
  )
  const { result, of } = await performed(bed)
  expect(result).toMatchObject({ state: 'failed', failure: { kind: 'exception' } })
  const said = of('agent.message.created').map(({ payload }) => payload)
  expect(said.map(({ messageType }) => messageType)).toEqual(['task_assignment', 'task_completion'])
  expect(of('message.failed').map(({ payload }) => payload)).toMatchObject([
    { messageId: said[0]?.messageId, errorType: 'rejected', retryCount: 3, maxRetries: 3 },
  ])
  expect(of('task.failed').map(({ payload }) => payload)).toMatchObject([
    {
      errorType: 'exception',
      recoverable: true,
      suggestedAction: 'retry',
      reason: expect.stringContaining('limit'),
    },
  ])
  expect(of('workflow.finalized').map(({ payload }) => payload)).toMatchObject([{ totalAgents: 0 }])
})

test('[MUS-282] each try has an agent of its own, and who has its work acknowledges it before it says anything else', async () => {
  const spans: string[] = []
  const bed = await developing(async ({ spanId, taken }) => {
    spans.push(spanId)
    if (spans.length < 3) throw new AppError('unavailable', 'tmux is not connected')
    await taken?.()
    return { status: 'completed', text: '{"status":"completed","summary":"done"}', tokens: 5, durationMs: 1 }
  })
  const { result, of } = await performed(bed)
  expect(result).toMatchObject({ state: 'completed' })
  expect(new Set(spans).size).toBe(3)
  expect(of('agent.message.created').map(({ payload }) => payload.messageType)).toEqual([
    'task_assignment',
    'acknowledgment',
    'task_completion',
  ])
  expect(of('message.accepted').map(({ payload }) => payload.attempt)).toEqual([3])
  expect(of('workflow.finalized').map(({ payload }) => payload)).toMatchObject([
    { totalAgents: 1, totalTokens: 5 },
  ])
})

test('[MUS-282] who has its work is not given it again, though it says that it was not reached', async () => {
  let tries = 0
  const bed = await developing(async ({ taken }) => {
    tries += 1
    await taken?.()
    return { status: 'failed', text: '', reason: 'gone', undelivered: 'gone', tokens: 3, durationMs: 1 }
  })
  const { result, of } = await performed(bed)
  expect(result).toMatchObject({ state: 'failed', failure: { kind: 'exception', error: 'gone' } })
  expect(tries).toBe(1)
  expect(of('retry.scheduled')).toEqual([])
})

test.each(['not_found', 'invalid', 'conflict', 'denied'] as const)(
  '[MUS-282] what is refused as %s would be refused again: it is given up at once',
  async (code) => {
    let tries = 0
    const bed = await developing(() => {
      tries += 1
      return Promise.reject(new AppError(code, 'no agent type developer'))
    })
    const { result, of } = await performed(bed)
    expect(result).toMatchObject({ state: 'failed' })
    expect(tries).toBe(1)
    expect(of('retry.scheduled')).toEqual([])
    expect(of('message.failed').map(({ payload }) => payload)).toMatchObject([
      { errorType: 'rejected', reason: 'no agent type developer', retryCount: 0 },
    ])
  },
)

const fine = async ({ taken }: Work): Promise<WorkEnd> => {
  await taken?.()
  return { status: 'completed', text: '{"status":"completed","summary":"done"}', tokens: 5, durationMs: 1 }
}

test.each<[string, (work: Work) => Promise<WorkEnd>, (() => Promise<object>) | undefined, string]>([
  ['git fails when the work is collected', fine, () => Promise.reject(new Error('git broke')), 'git broke'],
  [
    'the agent breaks once it has its work',
    async ({ taken }) => {
      await taken?.()
      throw new Error('it broke')
    },
    undefined,
    'it broke',
  ],
  [
    'the report is refused',
    fine,
    async () => ({ files: [{ path: 'src/t1/a.ts', change: 'odd', added: 1, removed: 0 }], diff: '' }),
    'a message breaks the protocol',
  ],
])(
  '[COL-26][COL-61] an attempt has its end also when %s, and the next begins where it began',
  async (_, run, collect, why) => {
    const { result, of } = await performed(await developing(run, collect))
    const error = expect.stringContaining(why)
    expect(result).toMatchObject({ state: 'failed', start: 'c0', failure: { kind: 'exception', error } })
    expect(of('agent.message.created').map(({ payload }) => payload.messageType)).toEqual([
      'task_assignment',
      'acknowledgment',
      'task_completion',
    ])
    expect(of('task.failed')).toMatchObject([
      { taskId: 't1', payload: { reason: error, errorType: 'exception' } },
    ])
    expect(of('task.completed')).toEqual([])
  },
)

test('[MUS-282] a message that breaks the protocol is recorded as malformed or rejected, and is not said', async () => {
  const bed = await openQuickBed(() => [
    {
      name: 'one',
      version: '1',
      async run(flow) {
        const talk = await talkIn(flow)
        const complete = (payload: object) =>
          ({ from: 'dev-1', to: 'arch', type: 'task_completion', payload }) as never
        const refused = [
          ['shape', complete({ task_id: 't1' })],
          ['sense', complete({ task_id: 't1', status: 'completed', summary: 's' })],
        ] as const
        const problems: string[] = []
        for (const [name, utterance] of refused)
          await talk.say(flow, name, { utterance }).catch((error: AppError) => problems.push(error.code))
        return problems
      },
    } satisfies Procedure<null, unknown> as Procedure<never, unknown>,
  ])
  const { result, of } = await performed(bed)
  expect(result).toEqual(['invalid', 'invalid'])
  expect(of('agent.message.created')).toEqual([])
  expect(of('message.failed').map(({ payload }) => [payload.errorType, payload.reason])).toEqual([
    ['malformed', expect.stringContaining('payload.status')],
    ['rejected', 't1 is not an open assignment, so it cannot have a task_completion'],
  ])
})
