import { expect, test } from 'vitest'
import type { AgentEvent, EventOf, EventType } from '../../src/contract/event.ts'
import { draftOf } from '../../src/engine/sessions/drafts.ts'
import { eventually, sessionDaemon } from '../support/session-daemon.ts'
import { standInClaude } from '../support/stand-in-claude.ts'
import { ids, plant } from '../support/temp-engine.ts'

test('[MUS-17] what a killed daemon meant to do outside and left without a receipt is told as unknown, once, and is not done again', async () => {
  const m = await sessionDaemon()
  const { id, session_id } = await m.spawnShell()
  const of = async <T extends EventType>(type: T) =>
    (await m.client.listEvents({ session: id, type, limit: 100 })).events as EventOf<T>[]
  const [started] = await of('session.started')
  if (!started) throw new Error('it was started')
  const { traceId, runId, spanId, sessionId } = started
  const at = { sessionId, traceId, runId, spanId: ids.span(), parentSpanId: spanId, actor: 'muster' }
  const effect = { effectId: 'interrupt:1', effect: 'interrupt' }
  await m.restart('SIGTERM', () => plant(m.home, [draftOf(at, 'effect.intended', effect)]))
  const told = await eventually(
    () => of('effect.unknown'),
    (found) => found.length > 0,
  )
  expect(told).toMatchObject([{ spanId: at.spanId, payload: { ...effect, reason: expect.any(String) } }])
  const { events } = await m.client.listSessionEvents({ id, type: 'unknown' })
  expect(events).toMatchObject([
    { session_id, message: expect.stringContaining('it is not known what became of its interrupt') },
  ])
  await m.restart()
  expect(await m.client.getSession({ id })).toMatchObject({ is_alive: true })
  expect(await of('effect.unknown')).toHaveLength(1)
  // The start of its program has its receipt, and nothing was meant twice.
  expect((await of('effect.intended')).map(({ payload }) => payload.effect).toSorted()).toEqual([
    'interrupt',
    'launch',
  ])
})

test('[MUS-15] how a session fares is told when it changes, with the sign by which that is known, and not again', async () => {
  const m = await standInClaude()
  const session = await m.spawn()
  const edges = async () => ((await m.events('signal.changed')) as AgentEvent[]).map(({ payload }) => payload)
  const until = (count: number) => eventually(edges, (found) => found.length >= count)
  await m.turn(session, { prompt: 'do it', isOpen: true })
  await m.hook(session, {
    hook_event_name: 'StopFailure',
    error: 'rate_limit',
    last_assistant_message: 'You have hit your limit',
  })
  const limited = { signal: 'health', from: 'ok', to: 'limited', source: 'hook', detail: expect.any(String) }
  expect(await until(1)).toEqual([limited])
  const { events } = await m.client.listSessionEvents({ id: session.id, type: 'health' })
  expect(events.map(({ message }) => message)).toEqual([expect.stringContaining(' is limited - "')])
  // Neither a look at it nor a daemon that reads its record again is a change.
  await m.m.restart()
  await m.session(session)
  await m.turn(session, { prompt: 'go on', isOpen: true })
  expect(await until(2)).toEqual([limited, expect.objectContaining({ from: 'limited', to: 'ok' })])
})
