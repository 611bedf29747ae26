import { expect, test } from 'vitest'
import type { DurableBed } from '../../../test/suites/durable.ts'
import { openBed, openQuickBed } from '../../../test/support/local-bed.ts'
import { systemClock } from '../../adapters/system/clock.ts'
import type { AgentEvent } from '../../contract/event.ts'
import { LimitReached, type Procedure } from '../../ports/durable.ts'
import type { WorkEnd } from '../../ports/workers.ts'
import { deliverWork } from './deliver-work.ts'

const done: WorkEnd = { status: 'completed', text: 'done', tokens: 1, durationMs: 1 }
const missed: WorkEnd = {
  status: 'failed',
  text: '',
  reason: 'no terminal',
  undelivered: 'rejected',
  tokens: 0,
  durationMs: 0,
}

/** Somebody who is reached at the n-th try, and a runner that can be killed. */
const bedOf = (reachedAt: number) =>
  openQuickBed((world) => [
    {
      name: 'hands',
      version: '1',
      run: (flow) =>
        deliverWork(flow, { name: 'agent', to: 'dev-1', at: flow.root(), messageId: 'm1' }, (n, taken) =>
          flow.step(`try-${n}`, async () => {
            world.done.push(`try-${n}`)
            if (n !== reachedAt) return missed
            await taken()
            return done
          }),
        ),
    } satisfies Procedure<unknown, WorkEnd> as Procedure<never, unknown>,
  ])

const begun = async (bed: DurableBed) => {
  const at = await bed.place()
  return async () => {
    await bed.durable().start('hands', { id: 'w', input: null, at })
    return bed.durable().result('w')
  }
}
const told = async (bed: DurableBed) =>
  (await bed.events()).filter(({ type }) => type.startsWith('message.') || type === 'retry.scheduled')
const briefly = (event: AgentEvent) =>
  event.type === 'retry.scheduled' ? [event.type, event.payload.delayMs] : [event.type]

test('[MUS-282] what does not reach its agent is handed over again after longer and longer waits, as the same message', async () => {
  const bed = await bedOf(2)
  expect(await (await begun(bed))()).toEqual(done)
  const facts = await told(bed)
  expect(facts.map(briefly)).toEqual([
    ['message.queued'],
    ['retry.scheduled', 1000],
    ['retry.scheduled', 4000],
    ['message.accepted'],
  ])
  expect(facts[1]?.payload).toEqual({
    what: 'message m1 to dev-1',
    attempt: 1,
    maxAttempts: 3,
    delayMs: 1000,
    reason: 'no terminal',
  })
  expect(facts.at(-1)?.payload).toMatchObject({ messageId: 'm1', to: 'dev-1', attempt: 3 })
  expect(
    new Set(facts.filter(({ type }) => type !== 'retry.scheduled').map(({ spanId }) => spanId)).size,
  ).toBe(1)
})

test('[MUS-282] after three more tries it is given up, with how often and why', async () => {
  const bed = await bedOf(Infinity)
  expect(await (await begun(bed))()).toEqual(missed)
  expect(bed.world.done).toEqual(['try-0', 'try-1', 'try-2', 'try-3'])
  const facts = await told(bed)
  expect(facts.map(briefly)).toEqual([
    ['message.queued'],
    ['retry.scheduled', 1000],
    ['retry.scheduled', 4000],
    ['retry.scheduled', 16_000],
    ['message.failed'],
  ])
  expect(facts.at(-1)?.payload).toEqual({
    messageId: 'm1',
    to: 'dev-1',
    attempt: 4,
    errorType: 'rejected',
    reason: 'no terminal',
    retryCount: 3,
    maxRetries: 3,
  })
})

test('[MUS-282] what reaches its agent at once, and what no message says, leaves no trace of a message', async () => {
  const reached = await bedOf(0)
  expect(await (await begun(reached))()).toEqual(done)
  expect(await told(reached)).toEqual([])
  const unsaid = await openQuickBed(() => [
    {
      name: 'hands',
      version: '1',
      run: (flow) =>
        deliverWork(
          flow,
          { name: 'plan', to: 'architect', at: flow.root(), messageId: undefined },
          async (n) => (n === 0 ? missed : done),
        ),
    } satisfies Procedure<unknown, WorkEnd> as Procedure<never, unknown>,
  ])
  expect(await (await begun(unsaid))()).toEqual(done)
  expect(await told(unsaid)).toMatchObject([
    { type: 'retry.scheduled', payload: { what: 'the start of architect' } },
  ])
})

test('[MUS-282] killed at any write between two tries, it is neither lost nor told twice', async () => {
  for (const [reachedAt, end] of [
    [2, done],
    [Infinity, missed],
  ] as const) {
    const whole = await bedOf(reachedAt)
    await (await begun(whole))()
    const expected = (await told(whole)).map(briefly)
    let isOver = false
    for (let n = 1; !isOver; n++) {
      const bed = await bedOf(reachedAt)
      const begin = await begun(bed)
      bed.failFrom(n)
      isOver = await begin().then(
        () => true,
        () => false,
      )
      if (isOver) break
      await bed.crash()
      expect(await begin(), `killed at write ${n}`).toEqual(end)
      expect((await told(bed)).map(briefly), `killed at write ${n}`).toEqual(expected)
      // One try may be made again: that its end was not written is all that is known of it.
      expect(bed.world.done.length - new Set(bed.world.done).size).toBeLessThanOrEqual(1)
    }
  }
})

test('[MUS-280] a limit ends the wait for the next try, and no try is announced after it', async () => {
  for (const isWaiting of [false, true]) {
    const over = new AbortController()
    const limit = new LimitReached('it took longer than 5 min')
    let tries = 0
    // Its clock does not go on while it waits.
    const bed = await openBed(
      () => [
        {
          name: 'hands',
          version: '1',
          run: async (flow) => {
            const given = { name: 'agent', to: 'dev-1', at: flow.root(), messageId: 'm1', over: over.signal }
            return deliverWork(flow, given, async () => {
              tries += 1
              if (!isWaiting) over.abort(limit)
              return missed
            }).catch((error: unknown) => (error === limit ? done : missed))
          },
        } satisfies Procedure<unknown, WorkEnd> as Procedure<never, unknown>,
      ],
      { ...systemClock, sleep: async () => over.abort(limit) ?? new Promise(() => {}) },
    )
    expect(await (await begun(bed))()).toEqual(done)
    expect(tries).toBe(1)
    // What waits for delivery ends with the workflow.
    expect((await told(bed)).map(briefly)).toEqual(
      isWaiting ? [['message.queued'], ['retry.scheduled', 1000], ['message.failed']] : [],
    )
  }
})
