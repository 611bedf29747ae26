import { expect, test } from 'vitest'
import type { Queued } from '../../core/messages/message-queue.ts'
import { Delivery } from './deliver.ts'
import type { Parts } from './session-parts.ts'
import type { SessionWatch } from './session-watch.ts'

type Draft = { type: string; payload: { messageId: string; stage?: Queued['stage']; reason?: string } }
type Box = { state: 'empty' | 'text' | 'none'; text?: string }

/** A session with queued messages whose box and person a test moves with the time, which passes as soon as it is waited for. */
function session(
  texts: readonly string[],
  at: (now: number, done: readonly Draft[]) => { box: Box; lastKeyMs?: number; drawnMs?: number },
) {
  let now = 1_000_000
  const began = now
  const stop = Promise.withResolvers<void>()
  const written: Draft[] = []
  let queue = texts.map(
    (text, i): Queued =>
      ({ messageId: `m${i}`, vault: text, stage: 'queued', mode: 'sequential', by: 'terminal' }) as Queued,
  )
  const managed = {
    cli: 'claude',
    isPromptTyped: true,
    place: { serverId: 's', terminalId: 't', paneId: 'p' },
  }
  const seen = () => at(now - began, written)
  const screen = () => {
    const { lastKeyMs, drawnMs } = seen()
    return {
      lines: ['x'],
      width: 80,
      height: 1,
      ...(lastKeyMs !== undefined && { lastKeyMs: began + lastKeyMs }),
      ...(drawnMs !== undefined && { drawnMs: began + drawnMs }),
    }
  }
  const parts = {
    clock: {
      now: () => now,
      monotonic: () => now,
      sleep: async (ms: number) => {
        now += ms
        if (now - began > 3_600_000) stop.resolve()
        // A loop that waits for nothing else lets nobody else have a turn.
        await new Promise((resolve) => setImmediate(resolve))
      },
    },
    vault: { get: async (text: string) => new TextEncoder().encode(text) },
    clis: {
      claude: {
        dialect: {
          harmless: (text: string) => text,
          typing: () => ({ submit: ['Enter'], clear: ['C-u'], interrupt: ['Escape'], settleMs: 100 }),
          screen: () => ({ composer: seen().box, isWorking: false }),
        },
      },
    },
    terminal: {
      capture: async () => screen(),
      redraw: async () => {},
      paste: async () => true,
      keys: async () => true,
    },
    engine: {
      session: () => undefined,
      perform: async (drafts: readonly Draft[]) => {
        for (const { type, payload } of drafts) {
          written.push({ type, payload })
          queue =
            type === 'message.delivered'
              ? queue.map((one) =>
                  one.messageId === payload.messageId
                    ? ({ ...one, stage: payload.stage, givenAtMs: one.givenAtMs ?? now } as Queued)
                    : one,
                )
              : queue.filter(({ messageId }) => messageId !== payload.messageId)
        }
        if (queue.length === 0) stop.resolve()
      },
    },
    onBug: (error: unknown) => stop.reject(error),
  } as unknown as Parts
  const watch = {
    id: 'ses_1',
    root: {},
    verdict: { lifecycle: 'idle' },
    taken: { list: [], hasRecord: false },
    evidence: { last: {} },
    state: () => ({ managed, queue }),
  } as unknown as SessionWatch
  const delivery = new Delivery(parts, watch, { settled: async () => {} })
  delivery.poke()
  const ends = async () => {
    await stop.promise
    await delivery.stop()
    return written.map(({ type, payload }) => [payload.messageId, payload.stage ?? payload.reason ?? type])
  }
  return { ends }
}

test('[MUS-321] a person who types between a paste and its Enter holds Enter up, and nothing is written again and again meanwhile', async () => {
  const isPasted = (done: readonly Draft[]) => done.length > 0
  const { ends } = session(['hello'], (now, done) => ({
    box: isPasted(done) ? { state: 'text', text: 'hello' } : { state: 'empty' },
    ...(isPasted(done) && now < 60_000 && { lastKeyMs: now }),
  }))
  expect(await ends()).toEqual([
    ['m0', 'pasted'],
    ['m0', 'submitted'],
    ['m0', expect.stringContaining('ignored Enter')],
  ])
})

test('[MUS-321] a message whose box nobody can read for ten minutes is a dead letter, though somebody looks in now and then', async () => {
  const { ends } = session(['hello', 'again'], (now) => ({
    box: { state: 'none' },
    lastKeyMs: Math.floor(now / 60_000) * 60_000,
  }))
  expect(await ends()).toEqual([
    ['m0', expect.stringContaining('could not be read')],
    ['m1', expect.stringContaining('could not be read')],
  ])
})

test('[MUS-376] a program that stands still over a long text has not lost the next one: it is sent when it is drawn', async () => {
  const { ends } = session(['hello'], (now) => ({
    box: now < 120_000 ? { state: 'empty' } : { state: 'text', text: 'hello' },
    drawnMs: now < 120_000 ? -1000 : now,
  }))
  expect(await ends()).toEqual([
    ['m0', 'pasted'],
    ['m0', 'submitted'],
    ['m0', expect.stringContaining('ignored Enter')],
  ])
})

test('[MUS-376] a program that draws, and not what was pasted, has lost it; one that never draws again is told as such', async () => {
  const alive = session(['hello'], (now) => ({ box: { state: 'empty' }, drawnMs: now }))
  expect(await alive.ends()).toEqual([
    ['m0', 'pasted'],
    ['m0', expect.stringContaining('was deleted')],
  ])
  const still = session(['hello'], () => ({ box: { state: 'empty' }, drawnMs: -1000 }))
  expect(await still.ends()).toEqual([
    ['m0', 'pasted'],
    ['m0', expect.stringContaining('stood still')],
  ])
})
