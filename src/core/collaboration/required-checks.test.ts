import { expect, test } from 'vitest'
import { plannedChecks, requiredChecks } from './required-checks.ts'

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
