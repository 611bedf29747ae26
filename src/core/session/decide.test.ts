import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ids, sessionDrafts } from '../../../test/support/temp-engine.ts'
import { catalogue, type Draft, type EventType, eventTypes } from '../../contract/event.ts'
import { forcedEnding } from '../trace/span-endings.ts'
import { decide } from './decide.ts'
import { evolve, hasEnded, type SessionState, spanKey } from './state.ts'

/** Decides and folds, as the engine does. */
function take(state: SessionState | undefined, draft: Draft): { state: SessionState; written: Draft[] } {
  const written = decide(state, draft)
  let next = state
  for (const one of written) next = evolve(next, one, { recordedAt: '2026-01-27T15:10:00.000Z' })
  return { state: next as SessionState, written }
}

function opened() {
  const session = sessionDrafts()
  return { session, state: take(undefined, session.started()).state }
}

test('[MUS-11] a start type opens a span and an end type closes it; every such type has a kind', () => {
  for (const type of eventTypes)
    expect(catalogue[type].spanKind !== undefined, type).toBe(catalogue[type].span !== 'point')
})

test('[MUS-12] a second ending of the same thing is refused, whatever it says', () => {
  const { session, state } = opened()
  const span = ids.span()
  const spawned = session.draft('agent.spawned', { agentId: 'a', agentType: 'developer' }, { spanId: span })
  const one = take(state, spawned)
  const done = take(one.state, session.draft('agent.completed', { agentId: 'a' }, { spanId: span }))
  for (const type of ['agent.completed', 'agent.failed', 'agent.killed'] as const)
    expect(() => take(done.state, session.draft(type, { agentId: 'a' }, { spanId: span }))).toThrow(
      /is not open/,
    )
  const ended = take(done.state, session.completed())
  expect(() => take(ended.state, session.completed())).toThrow(/already completed/)
})

test('[MUS-13] the end of an agent ends what is open below it, deepest first, and nothing beside it', () => {
  const { session, state } = opened()
  const [agent, tool, llm, other] = [ids.span(), ids.span(), ids.span(), ids.span()]
  let now = take(
    state,
    session.draft('agent.spawned', { agentId: 'a', agentType: 'x' }, { spanId: agent }),
  ).state
  now = take(
    now,
    session.draft('tool.call.started', { callId: 'c1', tool: 'Bash' }, { spanId: tool, parentSpanId: agent }),
  ).state
  now = take(
    now,
    session.draft('llm.request.started', { model: 'm' }, { spanId: llm, parentSpanId: tool }),
  ).state
  now = take(now, session.draft('tool.call.started', { callId: 'c2', tool: 'Read' }, { spanId: other })).state
  const { state: after, written } = take(
    now,
    session.draft('agent.cancelled', { agentId: 'a' }, { spanId: agent }),
  )
  expect(written.map((d) => [d.type, d.spanId])).toEqual([
    ['llm.request.failed', llm],
    ['tool.call.failed', tool],
    ['agent.cancelled', agent],
  ])
  expect(written[1]?.payload).toEqual({ callId: 'c1', tool: 'Bash', reason: 'agent.cancelled' })
  expect([...after.open.values()].map((span) => span.spanId)).toEqual([session.sessionSpan, other])
})

test('[MUS-13][MUS-24] a killed session cancels its open agents; one that merely ends leaves them abandoned', () => {
  for (const [outcome, expected] of [
    ['killed', 'agent.cancelled'],
    ['completed', 'agent.abandoned'],
  ] as const) {
    const { session, state } = opened()
    const spawned = take(state, session.draft('agent.spawned', { agentId: 'a', agentType: 'x' })).state
    const ending = session.draft('session.completed', { outcome }, { spanId: session.sessionSpan })
    expect(take(spawned, ending).written.map((d) => d.type)).toEqual([expected, 'session.completed'])
  }
})

test('[MUS-13] every forced ending fits the contract of its type', () => {
  const samples: Partial<Record<EventType, unknown>> = {
    'agent.spawned': { agentId: 'a', agentType: 'x' },
    'agent.task.assigned': { taskId: 't', description: 'd', agentId: 'a' },
    'tool.call.started': { callId: 'c', tool: 'Read' },
    'llm.request.started': { model: 'm' },
    'message.queued': { messageId: 'm' },
    'approval.requested': { approvalId: 'p', subject: 'tool', action: 'rm' },
    'effect.intended': { effectId: 'e', effect: 'paste' },
    'workflow.started': { workflowId: 'w' },
    'workflow.phase.started': { workflowId: 'w', phase: 'p', inputCount: 1 },
    'workflow.node.enter': { node: 'n' },
    'loop.round.started': { round: 1 },
    'handoff.requested': {
      from: { agentId: 'a', agentType: 'x' },
      to: { agentId: 'b', agentType: 'y' },
      reason: 'r',
    },
  }
  const starts = eventTypes.filter(
    (type) => catalogue[type].span === 'start' && catalogue[type].spanKind !== 'session',
  )
  expect(Object.keys(samples).toSorted()).toEqual(starts.toSorted())
  for (const type of starts)
    for (const cancelled of [true, false]) {
      const { session, state } = opened()
      const start = session.draft(type, catalogue[type].payload.parse(samples[type]) as never)
      const open = take(state, start).state.open.get(spanKey(state, start))
      const kind = open?.kind
      if (!open || !kind || kind === 'session') throw new Error(`${type} opened nothing`)
      const ending = forcedEnding(kind, open.facts, { reason: 'over', cancelled })
      expect(() => catalogue[ending.type].payload.parse(ending.payload), ending.type).not.toThrow()
      expect(catalogue[ending.type].span).toBe('end')
    }
})

test('[MUS-23] an ended session takes only late facts until it is reopened', () => {
  const { session, state } = opened()
  const ended = take(state, session.completed()).state
  expect(() => take(ended, session.note('x'))).toThrow(/send session.reopened/)
  expect(take(ended, session.draft('result.summary', { summary: 's' })).written).toHaveLength(1)
  const again = take(ended, session.draft('session.reopened', {}, { spanId: ids.span() })).state
  expect(hasEnded(again)).toBe(false)
  expect(take(again, session.note('x')).written).toHaveLength(1)
  expect(() => take(again, session.draft('session.reopened', {}))).toThrow(/has not ended/)
})

test('[MUS-14] an event of a session that never started is refused with what to send first', () => {
  expect(() => decide(undefined, sessionDrafts().note('x'))).toThrow(/send its session.started first/)
})

test('[MUS-12][MUS-13][MUS-50] whatever is proposed, each span ends at most once and an ended session has none open', () => {
  const step = fc.record({
    span: fc.nat(5),
    parent: fc.nat(5),
    act: fc.constantFrom('tool', 'agent', 'end', 'fail', 'close', 'reopen'),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const session = sessionDrafts()
      const spans = Array.from({ length: 6 }, () => ids.span())
      const kinds = new Map<string, string>()
      const ends = new Map<string, number>()
      const starts = new Map<string, number>()
      let state = take(undefined, session.started()).state
      for (const { span, parent, act } of steps) {
        const at = { spanId: spans[span] as never, parentSpanId: spans[parent] as never }
        const proposal = {
          tool: () => session.draft('tool.call.started', { callId: 'c', tool: 't' }, at),
          agent: () => session.draft('agent.spawned', { agentId: 'a', agentType: 'x' }, at),
          end: () =>
            session.draft(
              kinds.get(at.spanId) === 'agent' ? 'agent.completed' : 'tool.call.completed',
              { agentId: 'a', callId: 'c', tool: 't' } as never,
              at,
            ),
          fail: () => session.draft('agent.failed', { agentId: 'a' }, at),
          close: () => session.completed(),
          reopen: () => session.draft('session.reopened', {}, { spanId: session.sessionSpan }),
        }[act]()
        try {
          const result = take(state, proposal)
          state = result.state
          for (const draft of result.written) {
            const role = catalogue[draft.type].span
            if (role === 'start') {
              kinds.set(draft.spanId, catalogue[draft.type].spanKind as string)
              starts.set(draft.spanId, (starts.get(draft.spanId) ?? 0) + 1)
            }
            if (role === 'end') ends.set(draft.spanId, (ends.get(draft.spanId) ?? 0) + 1)
          }
        } catch (error) {
          expect(error).toMatchObject({ name: 'AppError' })
        }
        if (hasEnded(state)) expect(state.open.size).toBe(0)
        for (const [id, n] of ends)
          if (id !== session.sessionSpan) expect(n).toBeLessThanOrEqual(starts.get(id) ?? 0)
      }
    }),
  )
})
