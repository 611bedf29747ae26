import { expect, test } from 'vitest'
import { EventStream, runIdOf, spanIdOf } from '../../../test/support/events.ts'
import { agentClis } from '../../contract/agent-clis.ts'
import { notCounted } from './not-counted.ts'

const turn = (stream: EventStream, n: number) => {
  const of = { spanId: spanIdOf(n), runId: runIdOf(n) }
  stream.add('agent.spawned', { agentId: 'a', agentType: 'a', kind: 'main', depth: 0 }, of)
  return of
}

test('[MUS-328] a call that a CLI keeps to itself is named once it was made, and how often', () => {
  const stream = new EventStream()
  const told = (cli: string) => notCounted(cli, stream.events)
  for (const cli of [...Object.keys(agentClis), 'shell', 'own']) expect(told(cli)).toBe(null)
  const first = turn(stream, 1)
  expect(told('claude')).toBe(null)
  expect(told('pi')).toBe(null)
  expect(told('codex')).toBe('the call that names a conversation')
  stream.add('agent.cancelled', { agentId: 'a' }, first)
  expect(told('opencode')).toBe('the call that names a conversation; an answer that was interrupted')
  expect(told('pi')).toBe('an answer that was interrupted')
  expect(told('claude')).toBe('the rest of an answer that was interrupted')
  stream.add('agent.killed', { agentId: 'a' }, turn(stream, 2))
  expect(told('gemini')).toBe('an answer that was interrupted (2 times)')
  const { seq } = stream.add('context.compacted', { trigger: 'manual' })
  expect(told('gemini')).toBe('an answer that was interrupted (2 times); a compaction')
  expect(told('claude')).toContain('a compaction, until its conversation is left')
  expect(told('codex')).not.toContain('compaction')
  expect(notCounted('claude', stream.events, seq + 1)).toBe(
    'the rest of an answer that was interrupted (2 times)',
  )
})

test('[MUS-328] a tool that was stopped, a subagent and a turn that ended by itself broke no answer off', () => {
  const stream = new EventStream()
  const own = turn(stream, 1)
  stream.add(
    'tool.call.failed',
    { callId: 'c', tool: 'bash', error: 'interrupted' },
    { ...own, spanId: spanIdOf(9), atMs: 5000 },
  )
  stream.add('agent.cancelled', { agentId: 'a' }, { ...own, atMs: 5100 })
  stream.add('agent.completed', { agentId: 'a' }, turn(stream, 2))
  stream.add(
    'agent.spawned',
    { agentId: 'b', agentType: 'b', kind: 'subagent', depth: 1 },
    { spanId: spanIdOf(3) },
  )
  stream.add('agent.cancelled', { agentId: 'b' }, { spanId: spanIdOf(3) })
  expect(notCounted('pi', stream.events)).toBe(null)
})
