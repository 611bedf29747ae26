import { expect, test } from 'vitest'
import { ids } from '../../../test/support/temp-engine.ts'
import type { Signal } from '../../contract/signal.ts'
import type { SessionState } from '../../core/session/state.ts'
import type { Parts } from './session-parts.ts'
import { SessionTurns } from './session-turns.ts'

/** The turns of a Claude Code session whose open spans the test sets. */
function turns() {
  const open = new Map<string, unknown>()
  const state = {
    sessionId: ids.session(),
    traceId: ids.trace(),
    lifecycle: 'running',
    depth: 0,
    open,
    managed: { name: 'a', cli: 'claude', isPromptTyped: true },
  } as unknown as SessionState
  const progress = { enable_tool_tracking: true, enable_token_tracking: true }
  const parts = {
    ids,
    clock: { now: () => 0 },
    config: () => ({ child_agents: { progress } }),
    engine: { session: () => state },
  } as unknown as Parts
  const followed = new SessionTurns(parts, state)
  return {
    open,
    take: (signal: Signal) =>
      followed.take(signal, { record: 'transcript', isRepeat: false }).map(({ type }) => type),
  }
}

const call = { tool: 'Bash', callId: 'c1', input: {} }

test('[MUS-248] a call that ended is not failed at the end of its turn because the record told of the prompt late', () => {
  const m = turns()
  const prompt = { kind: 'prompt', text: 'do it', origin: 'person' } as const
  expect(m.take({ ...prompt, source: 'hook', at: 1 })).toEqual(['agent.spawned'])
  expect(m.take({ kind: 'tool-start', source: 'hook', at: 2, ...call })).toEqual([])
  expect(m.take({ kind: 'tool-end', source: 'hook', at: 3, ok: true, ...call })).toEqual([])
  expect(m.take({ ...prompt, source: 'transcript', at: 1 })).toEqual([])
  expect(m.take({ kind: 'tool-start', source: 'transcript', at: 2, ...call })).toEqual(['tool.call.started'])
  m.open.set('span', { kind: 'tool', facts: { callId: call.callId } })
  expect(m.take({ kind: 'turn-end', source: 'hook', at: 4, background: 0 })).toEqual([
    'tool.call.completed',
    'agent.completed',
  ])
})
