import { expect, test } from 'vitest'
import { checksOfTask, plannedChecks, requiredChecks } from './required-checks.ts'

test('[COL-46] the checks of a crew count before those of a plan, and each name once', () => {
  const crew = { test: 'make test', custom: [{ name: 'lint', command: 'make lint' }] }
  const plan = {
    test: 'npm test',
    type_check: 'npx tsc',
    custom: [
      { name: 'lint', command: 'true' },
      { name: 'docs', command: 'make docs' },
      { name: 'docs', command: 'true' },
    ],
  }
  expect(requiredChecks(crew, plan)).toEqual([
    { name: 'tests', command: 'make test' },
    { name: 'lint', command: 'make lint' },
    { name: 'type_check', command: 'npx tsc' },
    { name: 'docs', command: 'make docs' },
  ])
  expect(requiredChecks({ typeCheck: 'tsc', custom: [] }, undefined)).toEqual([
    { name: 'type_check', command: 'tsc' },
  ])
  expect(plannedChecks(undefined)).toEqual([])
})

test('[COL-16][COL-42] a task has to pass the types, and the tests unless it needs none; other checks are for the whole', () => {
  const all = requiredChecks(
    { test: 'npm test', typeCheck: 'npx tsc', custom: [{ name: 'lint', command: 'npm run lint' }] },
    undefined,
  )
  const names = (testing_required: boolean) => checksOfTask(all, { testing_required }).map(({ name }) => name)
  expect(names(true)).toEqual(['tests', 'type_check'])
  expect(names(false)).toEqual(['type_check'])
})
