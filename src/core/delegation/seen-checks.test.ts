import { expect, test } from 'vitest'
import { developerChecks, reviewerChecks } from './seen-checks.ts'

const ran = (command: string, exitCode = 0) => ({ command, exitCode })
const briefly = (checks: ReturnType<typeof reviewerChecks>) =>
  Object.fromEntries(checks.map(({ name, passed }) => [name, passed]))

test.each([
  ['npm test', 0, { tests: true }],
  ['CI=1 npx vitest run a.test.ts', 1, { tests: false }],
  ['cd app && npm run test:unit', 0, { tests: true }],
  ['npm test && npx tsc --noEmit', 0, { tests: true, type_check: true }],
  ['npm run typecheck', 2, { type_check: false }],
  ['python -m pytest -q', 0, { tests: true }],
  ['node --test', 0, { tests: true }],
  ['cargo build', 0, { type_check: true }],
  // What follows decides about the exit code.
  ['npm test | tail -5', 0, {}],
  ['npm test; echo done', 0, {}],
  ['npm test || true', 0, {}],
  ['echo ok; npm test', 0, { tests: true }],
  // It only looks like one.
  ['grep -rn test src', 0, {}],
  ['cat npm-test.log', 0, {}],
  ['', 0, {}],
])('[MUS-365][COL-16] what a developer ran: %s with exit code %d', (command, exitCode, found) => {
  expect(briefly(developerChecks([ran(command, exitCode)]))).toEqual(found)
})

test('[MUS-365][COL-46] the last run of a check counts, and one that was required and not seen did not run', () => {
  const criteria = {
    must_pass_tests: true,
    must_pass_type_check: true,
    custom_checks: [
      'npm run lint',
      'no new dependency',
      { name: 'both', command: 'npm run a && npm run b', expected_exit_code: 0 },
      { name: 'fails', command: 'node broken.js', expected_exit_code: 3 },
    ],
  }
  expect(reviewerChecks(criteria, [])).toEqual(
    ['tests', 'type_check', 'npm run lint', 'both', 'fails'].map((name) => ({
      name,
      required: true,
      passed: null,
      because: 'it was not seen to run',
    })),
  )
  const seen = [
    ran('npm test', 1),
    ran('npm test'),
    ran('npx tsc', 0),
    ran('npx tsc -p b', 2),
    ran('npm run  lint'),
    ran('npm run a && npm run b && echo both'),
    ran('node broken.js', 3),
  ]
  expect(briefly(reviewerChecks(criteria, seen))).toEqual({
    tests: true,
    type_check: false,
    'npm run lint': true,
    both: true,
    fails: true,
  })
  expect(reviewerChecks(undefined, [ran('npm test | cat')])).toEqual([])
  expect(reviewerChecks(criteria, [ran('npm test | cat')])[0]).toMatchObject({
    passed: null,
    because: 'its own result was not seen: | and another command follow it',
  })
})
