import { expect, test } from 'vitest'
import { call } from '../../test/support/std-008.ts'
import type { ToolCall } from '../contract/session-file/agent-session.ts'
import { filesChangedBy, foldEffects } from './changed-files.ts'

const did = (tool: string, params: Record<string, unknown>, result?: Record<string, unknown>): ToolCall => ({
  ...call('x', tool, 1),
  input: { params },
  output: { status: 'success', ...(result ? { result } : {}) },
})

test('[LOG-106] a file that was read before is modified by writing it, a new one is created', () => {
  const calls = [
    did('Read', { file_path: 'old.ts' }),
    did('Write', { file_path: 'old.ts' }),
    did('Write', { file_path: 'new.ts' }),
    did('Edit', { file_path: 'new.ts' }),
    did('write_file', { path: 'gem.ts' }),
    did('NotebookEdit', { notebook_path: 'n.ipynb' }),
    did('Write', { file_path: 'said.ts' }, { type: 'update' }),
  ]
  expect(filesChangedBy(calls)).toEqual({
    created: ['new.ts', 'gem.ts'],
    modified: ['old.ts', 'n.ipynb', 'said.ts'],
    deleted: [],
  })
})

test('[LOG-106] a patch names what it adds, updates and deletes, and a failed call changed nothing', () => {
  const patch =
    '*** Begin Patch\n*** Add File: a.ts\n+x\n*** Update File: b.ts\n*** Delete File: c.ts\n*** End Patch'
  const failed = { ...did('Write', { file_path: 'no.ts' }), output: { status: 'failed' as const } }
  expect(filesChangedBy([did('apply_patch', { input: patch }), failed])).toEqual({
    created: ['a.ts'],
    modified: ['b.ts'],
    deleted: ['c.ts'],
  })
})

test('[LOG-106] what was created and deleted again leaves nothing', () => {
  const effect = (path: string, change: 'created' | 'modified' | 'deleted') => ({ path, change })
  expect(foldEffects([effect('a', 'created'), effect('a', 'modified'), effect('a', 'deleted')])).toEqual({
    created: [],
    modified: [],
    deleted: [],
  })
  expect(foldEffects([effect('b', 'deleted'), effect('b', 'created')])).toEqual({
    created: [],
    modified: ['b'],
    deleted: [],
  })
})
