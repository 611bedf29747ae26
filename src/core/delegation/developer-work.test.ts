import { expect, test } from 'vitest'
import { planTask } from '../../../test/support/collaboration.ts'
import { DeveloperInput, DeveloperOutput } from '../../contract/session-file/outputs.ts'
import { developerInput, developerOutput, withAttempt } from './developer-work.ts'

test('[COL-41, COL-42] a developer is given the task, what to read, its scope and how it is done', () => {
  const task = planTask('a', ['b'], { specs: ['SPEC.md'], testing_required: false })
  const input = developerInput({ task, attempts: [] }, { styleGuide: 'STYLE.md', mustNotBreak: ['npm test'] })
  expect(DeveloperInput.parse(input)).toEqual({
    task_id: 'a',
    task_description: 'Do a\n\nAll of a.',
    context: { specs: ['SPEC.md'], reference_files: [] },
    constraints: {
      scope: ['src/a/**'],
      testing_required: false,
      style_guide: 'STYLE.md',
      must_not_break: ['npm test'],
    },
    acceptance_criteria: ['a works'],
  })
})

test('[COL-63] a failed attempt is told to the next developer', () => {
  const work = withAttempt({ task: planTask('a'), attempts: [] }, 'timeout', 'be quick')
  expect(withAttempt(work, 'exception', 'be careful').attempts).toEqual([
    { attempt_number: 1, outcome: 'timeout', feedback: 'be quick' },
    { attempt_number: 2, outcome: 'exception', feedback: 'be careful' },
  ])
})

test("[COL-13, COL-43] a developer's output has its own words and the changes that git shows", () => {
  const reply = { status: 'completed', summary: 's', blockers: ['x'] } as const
  const output = developerOutput('a', { ...reply, blockers: ['x'] }, [
    { path: 'new.ts', change_type: 'created', lines_added: 3 },
    { path: 'old.ts', change_type: 'deleted' },
    { path: 'odd.ts', change_type: 'modified' },
    { path: 'unsaid.ts' },
  ])
  expect(DeveloperOutput.parse(output)).toEqual({
    task_id: 'a',
    ...reply,
    changes: {
      files_created: [{ path: 'new.ts', change_type: 'created', lines_added: 3 }],
      files_modified: [{ path: 'odd.ts', change_type: 'modified' }, { path: 'unsaid.ts' }],
      files_deleted: ['old.ts'],
    },
  })
})
