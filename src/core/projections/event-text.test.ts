import { expect, test } from 'vitest'
import { EventStream } from '../../../test/support/events.ts'
import { searchText } from './event-text.ts'

const stream = new EventStream()

test('[MUS-79] a tool call is found by its words, its tool and its files', () => {
  const params = { file_path: '/repo/src/a.ts', new_string: 'const answer = 42' }
  expect(searchText(stream.add('tool.call.started', { callId: 'c', tool: 'Edit', params }))).toEqual({
    title: 'Edit /repo/src/a.ts',
    body: '/repo/src/a.ts const answer = 42',
    tool: 'Edit',
    files: '/repo/src/a.ts',
  })
})

test('[MUS-79] an end is found by how it ended', () => {
  const failed = stream.add('tool.call.failed', {
    callId: 'c',
    tool: 'Bash',
    reason: 'exit 2',
    result: 'log',
  })
  expect(searchText(failed)).toMatchObject({ status: 'error', tool: 'Bash', body: 'exit 2 log' })
  expect(searchText(stream.add('test.failed', { output: 'x' }))).toMatchObject({ status: 'error' })
  expect(searchText(stream.add('agent.killed', { agentId: 'a' }))).toMatchObject({ status: 'killed' })
})

test('[MUS-79] a patch is found by its paths', () => {
  const files = [
    { path: 'a.ts', change: 'modified' as const },
    { path: 'b/c.ts', change: 'created' as const },
  ]
  expect(searchText(stream.add('patch.created', { files }))).toMatchObject({ files: 'a.ts b/c.ts' })
})

test('[MUS-46] a queued message is found by its preview, not by what lies in the vault', () => {
  const queued = stream.add('message.queued', {
    messageId: 'm',
    preview: 'please look',
    vault: 'sha256:0123',
  })
  expect(JSON.stringify(searchText(queued))).not.toContain('0123')
  expect(searchText(queued)?.body).toBe('please look')
})

test('[MUS-16] only as much as a preview holds is searched', () => {
  const long = stream.add('progress.checkpoint', { message: `${'word '.repeat(2000)}tail` })
  expect(searchText(long)?.body.length).toBeLessThanOrEqual(2048)
  expect(searchText(long)?.body).not.toContain('tail')
})

test('[MUS-79] what says nothing in words is not searched', () => {
  expect(searchText(stream.add('llm.request.started', { model: 'm' }))).toBeUndefined()
  expect(searchText(stream.add('signal.changed', { signal: 's', to: 'x', source: 'hook' }))).toBeUndefined()
  expect(searchText(stream.add('context.compacted', {}))?.body ?? '').toBe('')
})
