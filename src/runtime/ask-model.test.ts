import { expect, test } from 'vitest'
import { ids } from '../../test/support/temp-engine.ts'
import type { Draft } from '../contract/event.ts'
import { type Model, ModelFailure, type ModelTurn } from '../ports/model.ts'
import { askModel } from './ask-model.ts'

const done: ModelTurn = {
  responseId: 'r1',
  parts: [{ kind: 'text', text: 'hello' }],
  usage: { input: 3, output: 1 },
  finish: 'stop',
}

/** A model that does one thing after the other. */
const model = (id: string, ...acts: (ModelTurn | Error)[]): Model => ({
  provider: 'test',
  id,
  async turn() {
    const act = acts.shift()
    if (act === undefined) throw new Error('asked too often')
    if (act instanceof Error) throw act
    return act
  },
})

async function ask(models: [Model, ...Model[]], signal = new AbortController().signal) {
  const recorded: Draft[] = []
  const slept: number[] = []
  const root = {
    sessionId: ids.session(),
    traceId: ids.trace(),
    runId: ids.run(),
    spanId: ids.span(),
    actor: 'lead',
  }
  const result = await askModel(
    {
      clock: {
        now: () => 0,
        monotonic: () => 0,
        sleep: async (ms) => {
          signal.throwIfAborted()
          slept.push(ms)
        },
      },
      newSpan: () => ids.span(),
      record: (facts) => void recorded.push(...(facts as readonly Draft[])),
      keep: async () => 'kept',
      chance: () => 0,
      prices: { estimate: () => undefined },
      retry: { maxAttempts: 3, firstMs: 1000, longestMs: 60_000 },
    },
    { root, models, request: { messages: [], tools: [] }, signal, onPiece: () => {} },
  ).catch((error: unknown) => error)
  return { result, recorded, slept, types: recorded.map(({ type }) => type) }
}

const limited = new ModelFailure('rate_limited', 'slow down', { status: 429, retryAfterMs: 3000 })
const broken = new ModelFailure('server', 'oops', { status: 500 })

test('[MUS-252] every attempt has a start and one end, and every wait is told', async () => {
  const { result, recorded, slept, types } = await ask([model('a', limited, broken, done)])
  expect(result).toMatchObject({ turn: done, model: { id: 'a' } })
  expect(types).toEqual([
    'llm.request.started',
    'llm.request.failed',
    'retry.scheduled',
    'llm.request.started',
    'llm.request.failed',
    'retry.scheduled',
    'llm.request.started',
    'llm.request.completed',
  ])
  expect(slept).toEqual([3000, 1000])
  expect(recorded[1]).toMatchObject({ payload: { kind: 'rate_limited', status: 429, retryAfterMs: 3000 } })
  expect(recorded.at(-1)).toMatchObject({ payload: { responseId: 'r1', usage: { input: 3 } } })
  const spans = recorded.filter(({ type }) => type.startsWith('llm.')).map(({ spanId }) => spanId)
  expect(new Set(spans).size).toBe(3)
})

test('[MUS-253] when a model cannot be had the next one is asked, and the choice is recorded', async () => {
  const login = new ModelFailure('login', 'no key', { status: 401 })
  const { result, recorded, types } = await ask([model('a', login), model('b', done)])
  expect(result).toMatchObject({ model: { id: 'b' } })
  expect(types.filter((type) => type === 'decision.made')).toHaveLength(1)
  expect(recorded.find(({ type }) => type === 'decision.made')).toMatchObject({
    payload: { subject: 'model', candidates: ['test/b'], choice: 'test/b' },
  })
})

test('[MUS-253] a conversation that is too long is not sent to the next model', async () => {
  const long = new ModelFailure('context_length', 'too long', { status: 400 })
  const { result, types } = await ask([model('a', long), model('b', done)])
  expect(result).toBe(long)
  expect(types).toEqual(['llm.request.started', 'llm.request.failed'])
})

test('[MUS-252] a cancelled request ends once, and is not tried again', async () => {
  const off = new AbortController()
  const stopping: Model = {
    ...model('a'),
    async turn() {
      off.abort(new Error('cancelled by the user'))
      throw off.signal.reason
    },
  }
  const { result, types } = await ask([stopping, model('b', done)], off.signal)
  expect(result).toMatchObject({ message: 'cancelled by the user' })
  expect(types).toEqual(['llm.request.started', 'llm.request.failed'])
})
