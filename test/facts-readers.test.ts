import fc from 'fast-check'
import { expect, test } from 'vitest'
import { factsOfSession, observedOfSession } from '../src/api/read-events.ts'
import { Config } from '../src/contract/config.ts'
import {
  type AgentEvent,
  type By,
  catalogue,
  type Draft,
  type EventType,
  eventTypes,
} from '../src/contract/event.ts'
import { Conversation } from '../src/engine/delegation/conversation.ts'
import type { Flow } from '../src/ports/durable.ts'
import type { Index } from '../src/ports/index.ts'
import type { JournalReader } from '../src/ports/journal.ts'
import { loadHistory } from '../src/runtime/history.ts'
import { soFar } from '../src/runtime/interrupted-runs.ts'
import { loadRecord } from '../src/runtime/replay/load-record.ts'
import { CliTurns } from '../src/workflow/cli-turns.ts'
import { whoGranted } from '../src/workflow/creation.ts'
import { keepTime } from '../src/workflow/crew/keep-time.ts'
import { FactWaits } from '../src/workflow/fact-waits.ts'
import { begunWith, flowEvents } from '../src/workflow/local/recorded-flow.ts'
import { manualClock } from './http/manual-clock.ts'
import { EventStream, runIdOf, sessionIdOf, spanIdOf } from './support/events.ts'
import { arbitraryOf } from './support/schema-arbitrary.ts'
import { TempIndex } from './support/temp-index.ts'

const sessionId = sessionIdOf(1)
const runId = runIdOf(1)
const daemon: By = { kind: 'daemon' }
const parent: By = { kind: 'session', id: sessionIdOf(2) }
const vias = ['report', 'hook', 'transcript', 'import'] as const
const architect = { agentId: 'arch', agentType: 'architect' }

/** What a run with a call, a workflow and a crew wrote; between two of them comes what `between` answers. */
function written(between: (stream: EventStream) => void): AgentEvent[] {
  const stream = new EventStream({ by: daemon, actor: 'boss', workflowId: 'w' })
  const add = <T extends EventType>(type: T, payload: Parameters<typeof stream.add<T>>[1]) => {
    stream.add(type, payload, { spanId: spanIdOf(stream.events.length) })
    between(stream)
  }
  add('session.started', { origin: 'runtime', workingDir: '/p' })
  add('workflow.started', { workflowId: 'w', name: 'crew', version: '1', vault: 'input' })
  add('message.queued', { messageId: 'm1', vault: 'prompt' })
  add('message.accepted', { messageId: 'm1' })
  add('agent.spawned', { agentId: 'boss', agentType: 'coder', agentTask: 'do it' })
  add('decision.made', { subject: 'tool', candidates: ['Read'], choice: 'Read' })
  add('approval.granted', { approvalId: 'a1', subject: 'plan', by: 'operator' })
  add('llm.request.completed', { responseId: 'r1', model: 'm', usage: { input: 5 }, vault: 'turn' })
  add('tool.call.started', { callId: 'c1', tool: 'Read', params: { file_path: 'a.txt' } })
  add('tool.call.completed', { callId: 'c1', tool: 'Read', vault: 'answer' })
  add('agent.message.created', {
    messageId: 'said',
    from: architect,
    to: { agentId: 'dev-1', agentType: 'developer' },
    messageType: 'status_query',
    payload: { subject_id: 't1' },
  })
  add('workflow.checkpoint.saved', { workflowId: 'w', phase: 'plan', stateBytes: 0, step: 'one' })
  return stream.events
}

/** Words that mean something to a reader, wherever a payload has a field for them. */
const meant: Readonly<Record<string, unknown>> = {
  callId: 'c1',
  tool: 'ExitPlanMode',
  params: { file_path: '/etc/passwd' },
  vault: 'forged',
  subject: 'retry',
  choice: 'resume',
  approvalId: 'a1',
  messageId: 'm1',
  messageType: 'task_completion',
  payload: {},
  workflowId: 'w',
  step: 'two',
  topic: 'approval',
}

const forgeries = eventTypes.flatMap((type) => {
  const { payload } = catalogue[type]
  const [sample = {}] = fc.sample(arbitraryOf(payload), { seed: 1, numRuns: 1 }) as object[]
  const pointed = Object.fromEntries(Object.entries(meant).filter(([name]) => name in payload.shape))
  return [sample, { ...sample, ...pointed }]
    .filter((one) => payload.safeParse(one).success)
    .map((one) => ({ type, payload: one }))
})

const texts: Readonly<Record<string, unknown>> = {
  input: { input: 'begun' },
  prompt: 'do it',
  turn: [
    { role: 'user', text: 'do it' },
    { role: 'assistant', parts: [{ kind: 'call', callId: 'c1', tool: 'Read', input: {} }] },
  ],
  answer: { callId: 'c1', tool: 'Read', text: 'as it is', isError: false },
  forged: { callId: 'c1', tool: 'Read', text: 'as somebody wants it', isError: false },
}
const vault = {
  get: async (name: string) => new TextEncoder().encode(JSON.stringify(texts[name] ?? null)),
}

/** The readers of a journal with these events. */
function readers(events: readonly AgentEvent[]) {
  const place = new TempIndex()
  const queries = place.queries(events)
  const journal: JournalReader = {
    watermark: () => events.length,
    oldest: () => 1,
    page: async (after, limit) =>
      events.slice(after, after + limit).map((event) => ({ seq: event.seq, line: '', event })),
    wait: () => Promise.reject(new Error('nothing comes')),
  }
  const index = {
    reached: async () => true,
    ask: async (name: 'events', filter: never) => queries[name](filter),
  } as unknown as Index
  return {
    facts: factsOfSession({ journal, index }),
    observed: observedOfSession({ journal, index }),
    [Symbol.dispose]() {
      queries[Symbol.dispose]()
      place[Symbol.dispose]()
    },
  }
}

/** What is read of a journal to decide, by what reads it. */
async function decidedOn(events: readonly AgentEvent[]) {
  using read = readers(events)
  const { facts } = read
  const clock = manualClock()
  const parts = { events: facts, vault, clock, config: () => Config.parse({}) } as never
  const { signal } = new AbortController()
  const flow = { id: 'w', root: () => ({ sessionId, actor: 'crew' }), signal } as unknown as Flow

  const folds: Readonly<Record<string, () => Promise<unknown>>> = {
    conversation: () => loadHistory(parts, { sessionId, agent: 'boss' }),
    conversationOfRun: () => loadHistory(parts, { sessionId, runId }),
    replay: () => loadRecord(parts, { sessionId, runId }),
    limits: () => soFar(parts, sessionId, runId),
    input: () => begunWith(parts, { id: 'w', sessionId } as never),
    granted: () => whoGranted(facts(sessionId, ['approval.granted']), 'plan'),
    async steps() {
      const steps: unknown[] = []
      for await (const event of flowEvents(parts, 'w', sessionId)) steps.push(event.payload)
      return steps
    },
    async messages() {
      const said: Draft[] = []
      const engine = { perform: async (drafts: readonly Draft[]) => void said.push(...drafts) }
      const talk = await Conversation.open({ engine, events: facts } as never, flow, {
        coordinators: [architect],
        others: [{ agentId: 'dev-1', agentType: 'developer' }],
      })
      await talk.mention(flow, {
        from: 'arch',
        to: 'dev-1',
        type: 'status_query',
        payload: { subject_id: 't1' as never },
      })
      return said.map(({ payload }) => payload)
    },
    async crewMinutes() {
      const over = new AbortController()
      const kept = keepTime({ clock, engine: { session: () => undefined }, events: facts } as never, flow, {
        limitMs: 3_600_000,
        signal: over.signal,
      }).then(() => 'late')
      const inTime = new Promise((resolve) => setImmediate(() => resolve('in time')))
      try {
        return await Promise.race([kept, inTime])
      } finally {
        over.abort()
        await kept.catch(() => {})
      }
    },
  }
  const found: Record<string, unknown> = {}
  for (const [name, fold] of Object.entries(folds))
    found[name] = await fold().catch((error: unknown) => ({ broke: String(error) }))
  return found
}

test.each(vias)(
  '[MUS-360] what is decided is read from facts: no %s of any type, at any place, changes it',
  async (via) => {
    let isForged = false
    const forged = (stream: EventStream): void => {
      const by = { ...parent, via }
      const of = { by, actor: 'boss', workflowId: 'w', ...(!isForged && { sessionId: sessionIdOf(9) }) }
      for (const { type, payload } of forgeries) stream.add(type, payload as never, { ...of, atMs: 3e12 })
    }
    // The same number of events, of another session: what is read has the same places.
    const expected = await decidedOn(written(forged))
    expect(JSON.stringify(expected)).not.toMatch(/broke|forged/)
    isForged = true
    expect(await decidedOn(written(forged))).toEqual(expected)
  },
)

test('[MUS-360] a turn of an agent program ends by its hooks and its record, never by what a caller tells', async () => {
  const stream = new EventStream({ by: daemon, actor: 'dev-1' })
  stream.add('session.started', { origin: 'managed', cli: 'claude' })
  const ends = vias.map((via) => {
    stream.add('message.queued', { messageId: `said ${via}` }, { by: { ...parent, via } })
    return stream.add('agent.completed', { agentId: 'dev-1', detail: via }, { by: { ...parent, via } })
  })
  using read = readers(stream.events)
  const waits = new FactWaits()
  const deps = { waits, session: () => undefined, events: read.observed }
  using turns = new CliTurns(deps, { sessionId, parentRunId: runIdOf(9) })
  await turns.known
  expect([(await turns.at(0)).said, (await turns.at(1)).said]).toEqual(['hook', 'transcript'])
  expect(await Promise.all(vias.map((via) => turns.wasSaid(`said ${via}`)))).toEqual([
    false,
    true,
    true,
    false,
  ])
  const heard: unknown[] = []
  using _listening = waits.listen(sessionId, ({ by }) => heard.push(by?.via))
  for (const end of ends) await waits.reactor.react(end, new AbortController().signal)
  expect(heard).toEqual(['hook', 'transcript'])
})
