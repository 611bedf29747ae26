import fc from 'fast-check'
import { expect, test } from 'vitest'
import { planTask } from '../../../test/support/collaboration.ts'
import { catalogue } from '../../contract/event.ts'
import { planRecord } from './check-plan.ts'
import { readPlan } from './read-crew-replies.ts'

const limits = { maxTasks: 8 }
const said = (value: unknown) => `Here it is.\n\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``
const problemsOf = (read: object) => ('problems' in read ? (read.problems as string[]) : [])

test('[COL-24] a plan is read with what may be left out, and recorded with its dependencies', () => {
  const bare = {
    summary: 's',
    tasks: [
      { task_id: 'a', title: 'A', description: 'd', scope: ['a'], acceptance_criteria: [], colour: 'red' },
      {
        task_id: 'b',
        title: 'B',
        description: 'd',
        scope: ['b'],
        acceptance_criteria: [],
        depends_on: ['a'],
      },
    ],
  }
  const read = readPlan(said(bare), limits)
  if (!('value' in read)) return expect.unreachable(read.problems.join())
  expect(read.value.tasks[0]).toEqual({
    task_id: 'a',
    title: 'A',
    description: 'd',
    scope: ['a'],
    acceptance_criteria: [],
    depends_on: [],
    priority: 'medium',
    testing_required: true,
  })
  expect(read.value.tasks[1]?.depends_on).toEqual([{ task_id: 'a', type: 'hard' }])
  const record = planRecord('p1', read.value)
  expect(catalogue['plan.created'].payload.safeParse(record).success).toBe(true)
  expect(record.tasks).toEqual([
    { taskId: 'a', description: 'A\n\nd', priority: 'medium', dependencies: [] },
    { taskId: 'b', description: 'B\n\nd', priority: 'medium', dependencies: ['a'] },
  ])
})

test('[COL-24] a field that is null is left out, and a file to read may say why', () => {
  const task = { ...planTask('a'), depends_on: null, specs: null, reference_files: [{ path: 'x', why: 'y' }] }
  expect(readPlan(said({ summary: 's', tasks: [task], checks: null, notes: null }), limits)).toMatchObject({
    value: { tasks: [{ depends_on: [], reference_files: [{ path: 'x' }] }] },
  })
})

test.each<[string, unknown, string[]]>([
  [
    'missing fields',
    { tasks: [{ ...planTask('a'), scope: undefined }] },
    ['summary: is missing', 'tasks.0.scope: is missing; expected a list'],
  ],
  [
    'an empty scope',
    { summary: 's', tasks: [planTask('a'), planTask('b', [], { scope: [] })] },
    ['tasks.1.scope: must have at least 1 item'],
  ],
  [
    'a name that is no slug',
    { summary: 's', tasks: [planTask('My Task')] },
    ['tasks.0.task_id: must be a short name'],
  ],
  [
    'a wrong word',
    { summary: 's', tasks: [{ ...planTask('a'), priority: 'urgent' }] },
    ['tasks.0.priority: expected high, medium, low'],
  ],
  ['rules of a plan', { summary: 's', tasks: [planTask('a', ['a'])] }, ['a → a']],
])('[COL-24] a plan that cannot be used says where: %s', (_, plan, words) => {
  const found = problemsOf(readPlan(said(plan), limits))
  expect(found).toHaveLength(words.length)
  words.forEach((each, i) => expect(found[i]).toContain(each))
})

test('[COL-24] of a broken plan only the break is told, not what its pieces lack', () => {
  const text = JSON.stringify({ summary: 's', tasks: [planTask('a'), planTask('b')] })
  const broken = text.replace('"title":"Do a"', '"title":"Do "a""')
  expect(problemsOf(readPlan(broken, limits))).toEqual([
    expect.stringContaining('the JSON object is broken at line 1') as string,
  ])
  expect(problemsOf(readPlan(text.slice(0, -9), limits)).join()).toContain('cut off')
})

test('[COL-24] whatever an agent says, reading it gives a value or problems', () => {
  const words = fc.oneof(
    fc.string(),
    fc.jsonValue().map(said),
    fc.jsonValue().map((value) => said({ tasks: [value], summary: value })),
  )
  fc.assert(
    fc.property(words, (text) => {
      const read = readPlan(text, limits)
      if (!('value' in read)) expect(read.problems.length).toBeGreaterThan(0)
    }),
  )
})
