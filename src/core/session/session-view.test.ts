import { expect, test } from 'vitest'
import type { SessionRow } from '../../contract/index-rows.ts'
import { sessionView } from './session-view.ts'
import type { SessionState } from './state.ts'

const row = (fields: Partial<SessionRow>) =>
  ({
    sessionId: 'x',
    shortId: 'x',
    parentId: null,
    firstMs: 1,
    lastMs: 1,
    toolCompleted: 0,
    toolFailed: 0,
    ...fields,
  }) as SessionRow
const seen = (fields: Partial<SessionRow>, lifecycle: SessionState['lifecycle']) =>
  sessionView(row(fields), {
    state: { lifecycle, depth: 0, open: new Map() } as unknown as SessionState,
    children: 0,
    now: 2,
  })

test('[SM-7] an end is shown together with its reason, not before it', () => {
  const before = seen({ lifecycle: 'running', endedMs: null, completion: null }, 'error')
  expect(before).toMatchObject({ status: 'running', completion_status: null, completion_message: null })
  const after = seen({ lifecycle: 'error', endedMs: 5, completion: 'exit code 3' }, 'error')
  expect(after).toMatchObject({
    status: 'error',
    completion_status: 'error',
    completion_message: 'exit code 3',
  })
})

test('[SM-66] a session that was reopened is open, whatever its row still says', () => {
  expect(seen({ lifecycle: 'completed', endedMs: 5 }, 'running').completion_status).toBeNull()
})
