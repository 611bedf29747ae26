import { expect, test } from 'vitest'
import { spanIdOf } from '../../test/support/events.ts'
import { developer, fileOf, reviewer } from '../../test/support/std-008-file.ts'
import { LiveSession, verdictOn } from '../../test/support/std-008-live.ts'
import type { ReviewerOutput } from '../contract/session-file/outputs.ts'
import { checkResults } from '../core/delegation/read-outputs.ts'

const proud = { tests_run: true, tests_passed: true, type_check_passed: true }
const done = (self_review?: object) => ({
  task_id: 'A',
  status: 'completed',
  changes: { files_created: [], files_modified: [], files_deleted: [] },
  summary: 'Done.',
  ...(self_review && { self_review }),
})

/** The output in the file of an agent that ran these commands, each with its end. */
function outputOf(
  agent: Parameters<LiveSession['spawn']>[1],
  { ran = [], output }: { ran?: readonly [command: string, end: 'completed' | 'failed'][]; output: unknown },
) {
  const live = new LiveSession()
  live.delegate(live.main, { id: 'other', agent: developer('B') })
  const run = live.spawn(live.main, agent)
  for (const [i, [command, end]] of ran.entries())
    live.call(run, { id: `bash-${i}`, tool: 'Bash', params: { command }, end })
  live.end(run, 'completed', { output })
  return fileOf(live.events).document.sub_sessions[1]?.output
}

test('[LOG-141] what a developer says of checks that nobody saw is not in its self-review, but beside it', () => {
  const written = outputOf(developer('A'), { output: done(proud) })
  expect(written).not.toHaveProperty('self_review')
  expect(written).toMatchObject({ original_self_review: proud })
  const issues = { ...proud, known_issues: ['slow'] }
  expect(outputOf(developer('A'), { output: done(issues) })).toMatchObject({
    self_review: { tests_run: false, tests_passed: false, type_check_passed: false, known_issues: ['slow'] },
    original_self_review: issues,
  })
})

test('[LOG-141] what it was seen to run counts, and the last run of each', () => {
  const ran = (...commands: [string, 'completed' | 'failed'][]) =>
    outputOf(developer('A'), { ran: commands, output: done(proud) })
  expect(ran(['npm test', 'completed'], ['npx tsc', 'completed'])).toMatchObject({ self_review: proud })
  expect(ran(['npm test', 'completed'], ['npx tsc', 'completed'])).not.toHaveProperty('original_self_review')
  expect(ran(['npm test', 'completed'], ['npm test', 'failed'])).toMatchObject({
    self_review: { tests_run: true, tests_passed: false, type_check_passed: false },
    original_self_review: proud,
  })
  expect(ran(['npm test | tail -1', 'completed'])).not.toHaveProperty('self_review')
  expect(outputOf(developer('A'), { ran: [['npm test', 'completed']], output: done() })).toMatchObject({
    self_review: { tests_run: true, tests_passed: true, type_check_passed: false },
  })
})

test('[LOG-141] what Muster ran counts before what the agent was seen to run', () => {
  const live = new LiveSession()
  live.delegate(live.main, { id: 'other', agent: developer('B') })
  const run = live.spawn(live.main, developer('A'))
  live.call(run, { id: 'bash', tool: 'Bash', params: { command: 'npm test' } })
  live.add(run, 'test.failed', { command: 'npm test', output: 'one is red' }, spanIdOf(90))
  live.end(run, 'completed', { output: done(proud) })
  expect(fileOf(live.events).document.sub_sessions[1]?.output).toMatchObject({
    self_review: { tests_run: true, tests_passed: false },
  })
  // What the project calls its type check may be any command.
  const made = new LiveSession()
  made.delegate(made.main, { id: 'other', agent: developer('B') })
  const other = made.spawn(made.main, developer('A'))
  made.add(other, 'test.passed', { command: 'npm test' }, spanIdOf(91))
  made.add(other, 'test.passed', { command: './look' }, spanIdOf(92))
  made.end(other, 'completed', { output: done(proud) })
  expect(fileOf(made.events).document.sub_sessions[1]?.output).toMatchObject({ self_review: proud })
})

test('[LOG-141] a check of a review that nobody saw is false in the file, and inside it was not run', () => {
  const said = {
    ...verdictOn('B', 'approved'),
    verification: { ...verdictOn('B', '').verification, custom_checks: { lint: true } },
  }
  const written = outputOf(reviewer, { ran: [['npm test', 'completed']], output: said }) as ReviewerOutput
  expect(written.verification).toEqual({
    tests_passed: true,
    type_check_passed: false,
    custom_checks: { lint: false },
  })
  expect(written.original_verification).toMatchObject({ said: said.verification })
  expect(checkResults(written)).toMatchObject({
    tests: { passed: true },
    type_check: { passed: null, error: 'nobody saw it run' },
    custom: { lint: { passed: null } },
  })
})
