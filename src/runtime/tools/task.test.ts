import { expect, test } from 'vitest'
import { leapingClock } from '../../../test/support/leaping-clock.ts'
import { call, definition, ownAgents, roster, script } from '../../../test/support/own-agents.ts'
import type { AgentEvent, EventOf, EventType } from '../../contract/event.ts'
import type { SessionId } from '../../contract/ids.ts'
import { sessionFromEvents } from '../../session-file/export-session.ts'
import { validateSession } from '../../session-file/validate.ts'

const developerInput = (task_id: string) => ({
  task_id,
  task_description: `Do ${task_id}.`,
  constraints: { scope: ['**'], testing_required: true },
})
const reviewerInput = (task_id: string, criteria: object = {}) => ({
  task_id,
  review_scope: { files: ['a.txt'] },
  criteria,
})
const json = (value: object) => ({ text: `\`\`\`json\n${JSON.stringify(value)}\n\`\`\`` })
const report = (status: string, more: object = {}) => json({ status, summary: `It is ${status}.`, ...more })
const verdict = (word: string, more: object = {}) =>
  json({ verdict: word, summary: `It is ${word}.`, findings: [], ...more })
const finding = (severity: string) => ({
  finding_id: 'finding-001',
  severity,
  category: 'bug',
  file: 'a.txt',
  line: 1,
  description: 'It says nothing.',
})
const write = (text: string) => call('Write', { file_path: 'a.txt', content: text })
const bash = (command: string) => call('Bash', { command })

/** A Task call to worker or judge, which get an input and play the steps. */
const task = (input: object, ...steps: readonly object[]) => ({
  name: 'Task',
  input: {
    subagent_type: 'review_scope' in input ? 'judge' : 'worker',
    prompt: `${JSON.stringify(input)}\n\n${script(...steps)}`,
  },
})
const one = (...given: Parameters<typeof task>) => ({ tools: [task(...given)] })

const agents = () => [
  ...roster(),
  definition('judge', { kind: 'subagent', tools: ['Read', 'Grep', 'Glob', 'Bash'] }),
]

type Own = Awaited<ReturnType<typeof ownAgents>>
type Options = NonNullable<Parameters<typeof ownAgents>[0]>

/** What was written while a main agent played its steps. */
async function played(steps: readonly object[], options: Options = {}) {
  const m = await ownAgents({ agents: agents(), ...options })
  const id = await m.open()
  await m.say(id, script(...steps, { text: '${lastToolResult}' }))
  return { m, id, ...(await recorded(m)) }
}

async function recorded(m: Own, ends = 1) {
  await expect.poll(async () => (await m.events()).filter(isEndOfMain).length, { timeout: 60_000 }).toBe(ends)
  const events = await m.events()
  const of = <T extends EventType>(type: T) =>
    events.filter((event): event is EventOf<T> => event.type === type)
  const messages = of('agent.message.created').filter(({ payload }) => payload.messageType !== undefined)
  return {
    events,
    of,
    messages,
    types: messages.map(({ payload }) => payload.messageType),
    answer: (of('agent.completed').findLast(isEndOfMain)?.payload.output as { text?: string } | undefined)
      ?.text,
  }
}
const isEndOfMain = ({ type, parentRunId }: AgentEvent): boolean =>
  parentRunId === undefined && /^agent\.(completed|failed|cancelled|killed)$/.test(type)

test('[MUS-367][COL-74] a task is recorded as in a crew: assignment, acknowledgment, what was seen of its work, its end', async () => {
  const { m, of, messages, types, answer } = await played([
    one(
      developerInput('T1'),
      write('one\n'),
      bash('echo checked && node --version'),
      report('completed', { self_review: { tests_run: true, tests_passed: true, type_check_passed: true } }),
    ),
  ])
  expect(types).toEqual(['task_assignment', 'acknowledgment', 'task_completion'])
  expect(messages.map(({ payload }) => payload.sequenceNumber)).toEqual([1, 2, 3])
  expect(new Set(messages.map(({ payload }) => payload.correlationId)).size).toBe(1)
  expect(messages.map(({ payload }) => [payload.from.agentId, payload.to.agentId])).toEqual([
    ['lead', 'worker'],
    ['worker', 'lead'],
    ['worker', 'lead'],
  ])
  const [assigned] = of('agent.task.assigned')
  const [completed] = of('task.completed')
  expect(assigned).toMatchObject({
    taskId: 'T1',
    payload: { taskId: 'T1', description: 'Do T1.', agentId: 'worker', assignedBy: 'lead' },
  })
  expect(completed).toMatchObject({
    taskId: 'T1',
    spanId: assigned?.spanId,
    payload: {
      summary: 'It is completed.',
      output: {
        task_id: 'T1',
        status: 'completed',
        changes: { files_created: [{ path: 'a.txt', change_type: 'created' }] },
        // Nobody was seen running tests, whatever it says of itself.
        self_review: { tests_run: false, tests_passed: false, type_check_passed: false },
      },
    },
  })
  expect(of('loop.round.started')).toHaveLength(1)
  expect(of('loop.round.completed')).toEqual([])
  expect(answer).toContain('"status":"completed"')
  expect(m.bugs).toEqual([])
})

test.each<[string, readonly object[], object]>([
  [
    'partial',
    [report('partial', { blockers: ['no time'] })],
    { type: 'task.completed', payload: { output: { status: 'partial', blockers: ['no time'] } } },
  ],
  [
    'failed by its own word',
    [report('failed')],
    {
      type: 'task.failed',
      payload: { errorType: 'exception', reason: 'It is failed.', suggestedAction: 'retry' },
    },
  ],
  [
    'words, though it was asked for the form once more',
    [{ text: 'All done!' }, { text: 'Really, all done!' }],
    {
      type: 'task.completed',
      payload: { output: { status: 'partial', summary: 'Really, all done!', blockers: [/the form/] } },
    },
  ],
  ['words at first', [{ text: 'All done!' }, report('completed')], { type: 'task.completed' }],
  [
    'failed by its model',
    [{ status: 400 }],
    { type: 'task.failed', payload: { agentId: 'worker', errorType: 'exception' } },
  ],
])('[MUS-367][COL-61] a task that ends %s is recorded so', async (_, steps, end) => {
  const { m, of, events, messages, types } = await played([one(developerInput('T1'), ...steps)])
  const ends = events.filter(({ type }) => type === 'task.completed' || type === 'task.failed')
  const expected = JSON.parse(JSON.stringify(end, (__, value) => (value instanceof RegExp ? '…' : value)))
  const found = JSON.parse(JSON.stringify(ends).replace(/"[^"]*the form[^"]*"/g, '"…"'))
  expect(found).toMatchObject([expected])
  expect(types).toEqual(['task_assignment', 'acknowledgment', 'task_completion'])
  // The work and the message say the same.
  const said = messages.at(-1)?.payload.payload as { status: string }
  expect(said.status).toBe(
    ends[0]?.type === 'task.failed'
      ? 'failed'
      : (of('task.completed')[0]?.payload.output as typeof said | undefined)?.status,
  )
  expect(of('agent.spawned')).toHaveLength(2)
  expect(m.bugs).toEqual([])
})

test('[MUS-367][COL-17][COL-32][COL-65] two tasks side by side, one partial, changes requested once, then approved: verdicts, findings and rounds', async () => {
  const { m, of, types, messages, answer, id } = await played([
    {
      tools: [
        task(developerInput('T1'), write('one\n'), report('completed')),
        task(developerInput('T2'), report('partial', { blockers: ['half'] })),
      ],
    },
    one(reviewerInput('T1'), verdict('changes_requested', { findings: [finding('critical')] })),
    one(developerInput('T2'), write('two\n'), report('completed')),
    one(reviewerInput('T1'), verdict('approved', { addressed: ['r1-finding-001'] })),
  ])
  expect([...types].map(String).toSorted()).toEqual(
    [
      ...Array.from({ length: 3 }, () => ['task_assignment', 'acknowledgment', 'task_completion']).flat(),
      ...Array.from({ length: 2 }, () => ['review_request', 'acknowledgment', 'review_result']).flat(),
    ].toSorted(),
  )
  expect(messages.map(({ payload }) => payload.sequenceNumber)).toEqual(messages.map((__, i) => i + 1))
  // A name that was used comes again with a number; the work of a task that is partly done is still its own.
  expect(
    of('agent.task.assigned')
      .map(({ taskId }) => String(taskId))
      .toSorted(),
  ).toEqual(['T1', 'T2', 'review-T1', 'T2-2', 'review-T1-2'].toSorted())
  expect(of('verifier.issue.found')).toMatchObject([
    {
      actor: 'judge',
      taskId: 'review-T1',
      payload: { findingId: 'r1-finding-001', severity: 'critical', file: 'a.txt', line: 1 },
    },
  ])
  const rounds = of('loop.round.completed').map(({ payload }) => [payload.round, payload.verdict])
  expect(rounds).toEqual([
    [1, 'changes_requested'],
    [2, 'approved'],
  ])
  expect(of('loop.round.started').map(({ payload }) => payload.round)).toEqual([1, 2])
  expect(of('task.completed').map(({ payload }) => (payload.output as { verdict?: string }).verdict)).toEqual(
    [undefined, undefined, 'changes_requested', undefined, 'approved'],
  )
  expect(answer).toContain('"verdict":"approved"')
  const { document, kind } = sessionFromEvents(await m.events(), { sequence: 1 })
  expect(kind).toBe('std-008')
  expect(validateSession(document)).toMatchObject({ valid: true, errors: [] })
  expect(document.summary).toMatchObject({
    // The task that was done in part was gone on with under another name.
    tasks: { total: 3, completed: 2, failed: 0 },
    review_iterations: 2,
    final_verdict: 'approved',
  })
  // What comes next is a round of its own, also after a restart.
  await m.say(id, script(one(developerInput('T9'), report('completed')), { text: 'ok' }))
  const again = await recorded(m, 2)
  expect(again.of('loop.round.started').map(({ payload }) => payload.round)).toEqual([1, 2, 3])
  expect(m.bugs).toEqual([])
})

test('[MUS-367][COL-33][COL-46] an approval counts only with the required checks seen to pass and no task left partial, and the one that asked is told', async () => {
  const criteria = { must_pass_tests: true, must_pass_type_check: true }
  const { of, answer, m } = await played([
    one(developerInput('T1'), report('partial', { blockers: ['half of it'] })),
    one(
      reviewerInput('T1', criteria),
      bash('node --test'),
      verdict('approved', { verification: { tests_passed: true, type_check_passed: true } }),
    ),
  ])
  const review = of('task.completed').at(-1)?.payload.output
  expect(review).toMatchObject({
    verdict: 'changes_requested',
    verification: { tests_passed: true, type_check_passed: false },
  })
  expect(of('loop.round.completed')[0]?.payload.verdict).toBe('changes_requested')
  expect(answer).toContain('"verdict":"approved"')
  expect(answer).toContain(
    'The verdict counts as changes_requested: the required check type_check did not run',
  )
  expect(answer).toContain('T1 is only partly done: half of it')
  expect(m.bugs).toEqual([])
})

test('[MUS-367][COL-17] a review without a verdict fails, is called off and closes no round; two of one round close it with the stricter verdict', async () => {
  const { of, types, answer, m } = await played([
    one(developerInput('T1'), report('completed')),
    one(reviewerInput('T1'), { text: 'Looks good.' }, { text: 'It does.' }),
    {
      tools: [
        task(reviewerInput('T1'), verdict('approved')),
        task(reviewerInput('T1'), verdict('rejected', { findings: [finding('major')] })),
      ],
    },
  ])
  expect(of('task.failed')).toMatchObject([{ taskId: 'review-T1', payload: { errorType: 'exception' } }])
  expect(types.filter((type) => type === 'abort')).toHaveLength(1)
  expect(of('loop.round.completed').map(({ payload }) => payload.verdict)).toEqual(['rejected'])
  expect(of('verifier.issue.found')[0]?.payload.findingId).toMatch(/^r1-[23]-finding-001$/)
  expect(answer).toContain('verdict')
  expect(m.bugs).toEqual([])
})

const hanging = { hang: true }
const late = async (input: object, minutes: number, more: object = {}) => {
  const clock = leapingClock()
  const m = await ownAgents({ agents: agents(), clock })
  const id = await m.open()
  const isReview = 'review_scope' in input
  const given = task(input, isReview ? bash('true') : write('half\n'), hanging)
  await m.say(
    id,
    script({ tools: [{ ...given, input: { ...given.input, ...more } }] }, { text: '${lastToolResult}' }),
  )
  await m.until('llm.request.started', 3)
  clock.leap(minutes * 60_000 - 60_000)
  // Nothing ends before its time; what is done until then is told.
  if (!isReview && minutes > 3)
    await expect
      .poll(async () =>
        (await m.events()).some(({ payload }) => JSON.stringify(payload).includes('"task_progress"')),
      )
      .toBe(true)
  expect((await m.events()).some(({ type }) => type === 'task.failed')).toBe(false)
  clock.leap(60_000)
  return { m, ...(await recorded(m)) }
}

test('[MUS-367][COL-67] a developer has ten minutes: what it did until then is told, and its task has failed as partial', async () => {
  const { of, messages, answer, m } = await late(developerInput('T1'), 10)
  expect(of('task.failed')).toMatchObject([
    {
      taskId: 'T1',
      payload: { errorType: 'timeout', reason: 'it took longer than 10 min', recoverable: true },
    },
  ])
  expect(messages.at(-1)?.payload).toMatchObject({
    messageType: 'task_completion',
    payload: { status: 'partial', changes: { files_created: [{ path: 'a.txt' }] } },
  })
  expect(answer).toContain('worker did not finish: it took longer than 10 min')
  expect(m.bugs).toEqual([])
})

test('[MUS-367][COL-68] a reviewer has five minutes, and whoever gives work may say how long it may take', async () => {
  const review = await late({ ...reviewerInput('T1') }, 5)
  expect(review.of('task.failed')).toMatchObject([{ payload: { errorType: 'timeout' } }])
  expect(review.types).toEqual(['review_request', 'acknowledgment', 'abort'])
  const short = await late(developerInput('T1'), 2, { timeout_minutes: 2 })
  expect(short.of('task.failed')).toMatchObject([{ payload: { reason: 'it took longer than 2 min' } }])
})

test('[MUS-367][RUN-19] a task whose run is cancelled is cancelled and called off; the next has its name again', async () => {
  const m = await ownAgents({ agents: agents() })
  const id: SessionId = await m.open()
  await m.say(id, script(one(developerInput('T1'), hanging)))
  await m.until('llm.request.started', 2)
  await m.runtime.interrupt(id, { name: 'me', by: { kind: 'operator' } } as never)
  const { of, types } = await recorded(m)
  expect(of('task.cancelled')).toMatchObject([
    { taskId: 'T1', payload: { agentId: 'worker', reason: 'cancelled by user' } },
  ])
  expect(types).toEqual(['task_assignment', 'acknowledgment', 'abort'])
  await m.say(id, script(one(developerInput('T1'), report('completed')), { text: 'ok' }))
  expect((await recorded(m, 2)).of('agent.task.assigned').map(({ taskId }) => taskId)).toEqual(['T1', 'T1'])
  expect(m.bugs).toEqual([])
})

test('[MUS-367] words are no message of the protocol: their task has its end, and no round begins', async () => {
  const given = (text: string) => call('Task', { subagent_type: 'search', prompt: text })
  const { of, types, answer } = await played([given(script({ text: 'Nothing there.' }))])
  expect(types).toEqual([])
  expect(of('task.completed')).toMatchObject([{ payload: { summary: 'Nothing there.' } }])
  expect(of('loop.round.started')).toEqual([])
  expect(answer).toBe('Nothing there.')
})

test('[MUS-367] a task that a killed daemon left is called off at the next start, and the model is told to look', async () => {
  const runtime = { on_restart: 'resume' }
  const m = await ownAgents({ agents: agents(), runtime })
  const id = await m.open()
  await m.say(id, script(one(developerInput('T1'), write('half\n'), hanging), { text: '${lastToolResult}' }))
  await m.until('llm.request.started', 3)
  await m.abandon()
  const n = await ownAgents({ folder: m.folder, agents: agents(), runtime })
  await n.runtime.start()
  const { of, types, answer } = await recorded(n)
  expect(types).toEqual(['task_assignment', 'acknowledgment', 'abort'])
  expect(of('task.cancelled')).toMatchObject([{ taskId: 'T1' }])
  expect(answer).toContain('It was cut off')
  expect(n.bugs).toEqual([])
})
