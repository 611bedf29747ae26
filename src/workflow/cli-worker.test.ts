import { expect, test } from 'vitest'
import { manualClock } from '../../test/http/manual-clock.ts'
import { derivedIds } from '../contract/derived-ids.ts'
import { AppError } from '../contract/errors.ts'
import type { EventType, Observed, PayloadOf } from '../contract/event.ts'
import type { SessionId } from '../contract/ids.ts'
import type { Work } from '../ports/workers.ts'
import { CliWorker } from './cli-worker.ts'
import { FactWaits } from './fact-waits.ts'

const settle = async () => {
  for (let i = 0; i < 50; i++) await new Promise<void>((resolve) => setImmediate(resolve))
}
const root = { sessionId: 'ses_parent', workflowId: 'w', phase: 'delegate', actor: 'crew' }
const sessionId = derivedIds('w span', 0).session
const prompt = `${sessionId}:prompt`
const never = new AbortController().signal

/** A session of which the test tells the facts; what is done to it is noted. */
function bed({
  cli = 'claude',
  journal = [] as Observed[],
  minutesAgo = 0,
  isOver = false,
  isIndexed = Promise.resolve(),
} = {}) {
  const clock = manualClock()
  const startedAtMs = clock.now() - minutesAgo * 60_000
  const waits = new FactWaits()
  const done: string[] = []
  const reasons: string[] = []
  const lifecycle = isOver ? 'completed' : 'running'
  let state: { lifecycle: string } | undefined =
    journal.length > 0 || minutesAgo > 0 ? { lifecycle } : undefined
  let whileKilled = async () => {}
  let refusal: AppError | undefined
  const asks: object[] = []
  const session = (id: SessionId) =>
    id === sessionId ? state && { ...state, asks, managed: { cli, startedAtMs } } : { sessionId: id }
  const live = { transcript: { answered: async () => {} } }
  const sessions = {
    async spawn() {
      if (refusal) throw refusal
      done.push('spawned')
      state = { lifecycle: 'running' }
    },
    settled: async () => (state?.lifecycle === 'running' ? live : undefined),
    isRunning: () => state?.lifecycle === 'running',
    send: async (_live: object, { messageId }: { messageId: string }) => void done.push(`sent ${messageId}`),
    complete: async () => void done.push('completed'),
    ends: {
      kill: async (_live: object, { reason }: { reason: string }) => {
        done.push('killed')
        reasons.push(reason)
        await whileKilled()
        return { done: Promise.resolve() }
      },
    },
  }
  const worker = new CliWorker({
    engine: { session, known: async (id: SessionId) => session(id) } as never,
    clock,
    waits,
    sessions: async () => sessions as never,
    async *events(_id, types) {
      await isIndexed
      yield* journal.filter(({ type }) => types.includes(type as never))
    },
    text: async (body) => (typeof body === 'string' ? body : ''),
    tokens: async () => 7,
  })
  const work = (more: Partial<Work> = {}): Work =>
    ({
      root,
      spanId: 'span',
      parentSpanId: 'above',
      agent: 'developer',
      name: 'dev-1',
      cli,
      prompt: 'do it',
      workspace: '/w',
      scopes: [],
      timeoutMs: 10 * 60_000,
      isAgain: minutesAgo > 0 || journal.length > 0,
      ...more,
    }) as Work
  const tell = async <T extends EventType>(type: T, payload: Partial<PayloadOf<T>>, ends = false) => {
    if (ends) state = { lifecycle: 'completed' }
    await waits.reactor.react(fact(type, payload) as never, undefined as never)
    await settle()
  }
  return {
    done,
    reasons,
    asks,
    whileKilled: (act: () => Promise<void>) => {
      whileKilled = act
    },
    run: async (more?: Partial<Work>) => {
      const running = worker.run(work(more), never)
      running.catch(() => {})
      await settle()
      return { running }
    },
    refuse: (error: AppError) => {
      refusal = error
    },
    tell,
    async pass(seconds: number) {
      for (let i = 0; i < seconds; i++) {
        clock.advance(1000)
        await settle()
      }
    },
  }
}

let seq = 0
const fact = <T extends EventType>(type: T, payload: Partial<PayloadOf<T>>, minutesAgo = 0) => {
  const timestamp = new Date(manualClock().now() - minutesAgo * 60_000).toISOString()
  return { type, payload, sessionId, seq: ++seq, timestamp } as unknown as Observed
}

test('[MUS-282] a program that shows nothing of its prompt is ended after three minutes; while it waits for a person the clock stands', async () => {
  const m = bed()
  const { running } = await m.run()
  m.asks.push({})
  await m.pass(200)
  expect(m.done).toEqual(['spawned'])
  m.asks.pop()
  await m.pass(181)
  expect(await running).toMatchObject({ status: 'failed', undelivered: 'timeout' })
  expect(m.done).toEqual(['spawned', 'killed'])
})

test('[MUS-282] who has its prompt is not ended for it, whatever shows it, and that is told once', async () => {
  for (const [type, payload] of [
    ['message.accepted', { messageId: prompt }],
    ['agent.spawned', { agentId: 'dev-1' }],
  ] as const) {
    const m = bed()
    let told = 0
    const { running } = await m.run({ taken: async () => void (told += 1) })
    expect(told).toBe(0)
    await m.tell(type, payload)
    expect(told).toBe(1)
    await m.pass(200)
    expect(m.done).toEqual(['spawned'])
    await m.tell('agent.completed', { agentId: 'dev-1', detail: 'done' })
    expect(await running).toMatchObject({ status: 'completed', text: 'done' })
    expect(told).toBe(1)
  }
  // A program of the user's own shows nothing.
  const own = bed({ cli: 'custom' })
  const { running } = await own.run()
  await own.pass(200)
  await own.tell('session.completed', { outcome: 'completed', message: 'ok' }, true)
  expect(await running).toMatchObject({ status: 'completed', text: 'ok' })
})

test('[MUS-282] a prompt that the terminal does not take, and a session that ends without it, were not delivered', async () => {
  const refused = bed()
  const one = await refused.run()
  await refused.tell('message.failed', { messageId: prompt, errorType: 'rejected', reason: 'no Enter' })
  expect(await one.running).toMatchObject({ status: 'failed', undelivered: 'rejected', reason: 'no Enter' })
  expect(refused.done).toEqual(['spawned', 'killed'])

  const gone = bed()
  const two = await gone.run()
  await gone.tell('session.failed', { reason: 'exit code 1' }, true)
  expect(await two.running).toMatchObject({ status: 'failed', undelivered: 'gone', reason: 'exit code 1' })

  // After it took its prompt, and where somebody killed it, it is the failure that it was.
  for (const [type, payload, hadPrompt] of [
    ['session.failed', { reason: 'it crashed' }, true],
    ['session.completed', { outcome: 'killed', reason: 'by me' }, false],
  ] as const) {
    const m = bed()
    const { running } = await m.run()
    if (hadPrompt) await m.tell('message.accepted', { messageId: prompt })
    await m.tell(type, payload as never, true)
    const end = await running
    expect(end).toMatchObject({ status: 'failed', reason: payload.reason })
    expect(end).not.toHaveProperty('undelivered')
  }
})

test('[MUS-282] a better answer is asked for once, also after a crash; where that is not delivered the first one stands', async () => {
  const refuse = () => 'answer with JSON'
  const repair = `${sessionId}:repair`
  const m = bed()
  const { running } = await m.run({ refuse })
  await m.tell('agent.completed', { agentId: 'dev-1', detail: 'prose' })
  expect(m.done).toEqual(['spawned', `sent ${repair}`])
  await m.tell('message.failed', { messageId: repair, errorType: 'timeout' })
  expect(await running).toMatchObject({ status: 'completed', text: 'prose' })

  const journal = [
    fact('agent.completed', { agentId: 'dev-1', detail: 'prose' }),
    fact('message.queued', { messageId: repair }),
  ]
  const again = bed({ journal })
  const second = await again.run({ refuse })
  expect(again.done).toEqual([])
  await again.tell('agent.completed', { agentId: 'dev-1', detail: '{}' })
  expect(await second.running).toMatchObject({ status: 'completed', text: '{}' })
})

test('[MUS-282] a start that is refused is told to who asked for it', async () => {
  const m = bed()
  m.refuse(new AppError('limited', 'too many sessions'))
  const { running } = await m.run()
  await expect(running).rejects.toMatchObject({ code: 'limited' })
})

test('[COL-67] after a restart an answer that is there counts, however late it is; who has none is given a moment', async () => {
  const answer = { agentId: 'dev-1', detail: 'done' }
  const there = bed({ journal: [fact('agent.completed', answer, 4)], minutesAgo: 12 })
  const one = await there.run()
  expect(await one.running).toMatchObject({ status: 'completed', text: 'done' })
  // What ended while nobody looked is told when its record is read.
  const found = bed({ journal: [fact('agent.spawned', { agentId: 'dev-1' }, 12)], minutesAgo: 12 })
  const two = await found.run()
  await found.pass(30)
  await found.tell('agent.completed', answer)
  expect(await two.running).toMatchObject({ status: 'completed', text: 'done' })

  const late = bed({ journal: [fact('agent.spawned', { agentId: 'dev-1' }, 12)], minutesAgo: 12 })
  const three = await late.run()
  await late.pass(61)
  expect(await three.running).toMatchObject({ status: 'timeout' })
})

test('[COL-67] who waits for a person when Muster is started again is not ended for that, and what it waited before does not count', async () => {
  const m = bed({ journal: [fact('agent.spawned', { agentId: 'dev-1' }, 20)], minutesAgo: 20 })
  m.asks.push({})
  const { running } = await m.run()
  await m.pass(120)
  expect(m.done).toEqual([])
  m.asks.pop()
  await m.pass(30)
  await m.tell('agent.completed', { agentId: 'dev-1', detail: 'done' })
  expect(await running).toMatchObject({ status: 'completed' })

  const journal = [
    fact('agent.spawned', { agentId: 'dev-1' }, 20),
    fact('approval.requested', { approvalId: 'a' }, 18),
    fact('approval.granted', { approvalId: 'a' }, 3),
  ]
  const before = bed({ journal, minutesAgo: 20 })
  const second = await before.run()
  await before.pass(4 * 60)
  expect(before.done).toEqual([])
  await before.pass(61)
  expect(await second.running).toMatchObject({ status: 'timeout' })
})

test('[MUS-282] a better answer is found though its session ended before it was taken note of', async () => {
  const journal = [
    fact('agent.completed', { agentId: 'dev-1', detail: 'prose' }),
    fact('message.queued', { messageId: `${sessionId}:repair` }),
    fact('agent.completed', { agentId: 'dev-1', detail: '{}' }),
    fact('session.completed', { outcome: 'completed', message: 'It is done.' }),
  ]
  const m = bed({ journal, isOver: true })
  const { running } = await m.run({ refuse: (text) => (text === '{}' ? undefined : 'answer with JSON') })
  expect(await running).toMatchObject({ status: 'completed', text: '{}' })
})

test('[MUS-282] a prompt that was taken after all was not lost, whatever was told of it before, after, or meanwhile', async () => {
  const failed = { messageId: prompt, errorType: 'timeout' } as const
  const m = bed()
  const one = await m.run()
  await m.tell('message.accepted', { messageId: prompt })
  await m.tell('message.failed', failed)
  await m.tell('agent.completed', { agentId: 'dev-1', detail: 'done' })
  expect(await one.running).toMatchObject({ status: 'completed', text: 'done' })

  const journal = [fact('message.failed', failed), fact('agent.spawned', { agentId: 'dev-1' })]
  const again = bed({ journal })
  const two = await again.run()
  await again.tell('agent.completed', { agentId: 'dev-1', detail: 'done' })
  expect(await two.running).toMatchObject({ status: 'completed', text: 'done' })

  const meanwhile = bed()
  let told = 0
  meanwhile.whileKilled(() => meanwhile.tell('message.accepted', { messageId: prompt }))
  const three = await meanwhile.run({ taken: async () => void (told += 1) })
  await meanwhile.pass(181)
  const end = await three.running
  expect(end).toMatchObject({ status: 'failed' })
  expect(end).not.toHaveProperty('undelivered')
  expect(told).toBe(1)
})

test('[MUS-276] who was ended for its time, or for its prompt, is known again after a crash by why it was ended', async () => {
  const first = bed()
  const one = await first.run()
  await first.tell('agent.spawned', { agentId: 'dev-1' })
  await first.pass(601)
  const end = await one.running
  expect(end).toMatchObject({ status: 'timeout' })
  const killed = (reason: string | undefined) => fact('session.completed', { outcome: 'killed', reason })
  const late = bed({
    journal: [
      fact('agent.spawned', { agentId: 'dev-1' }),
      fact('agent.cancelled', { agentId: 'dev-1', reason: 'session.completed (killed)' }),
      killed(first.reasons[0]),
    ],
    isOver: true,
  })
  const two = await late.run()
  expect(await two.running).toMatchObject({ status: 'timeout', reason: end.reason })

  const untaken = bed()
  const three = await untaken.run()
  await untaken.pass(181)
  await three.running
  const unread = bed({ journal: [killed(untaken.reasons[0])], isOver: true })
  const four = await unread.run()
  expect(await four.running).toMatchObject({ status: 'failed', undelivered: 'timeout' })
})

test('[MUS-275] an answer of the past counts, though the session ends while the past is still being read', async () => {
  const indexed = Promise.withResolvers<void>()
  const journal = [
    fact('agent.spawned', { agentId: 'dev-1' }),
    fact('agent.completed', { agentId: 'dev-1', detail: 'All is there.' }),
  ]
  const m = bed({ journal, minutesAgo: 1, isIndexed: indexed.promise })
  const { running } = await m.run()
  await m.tell('session.failed', { reason: 'its program ended' }, true)
  indexed.resolve()
  expect(await running).toMatchObject({ status: 'completed', text: 'All is there.' })
})
