import { expect, test } from 'vitest'
import { planTask } from '../../../test/support/collaboration.ts'
import type { PlanTask } from '../../contract/collaboration/plan.ts'
import { matchesGlob } from '../delegation/globs.ts'
import { checkPlan } from './check-plan.ts'
import { conflictWork, newestAfterSplits, tasksAfterSplits, workAfterSplit } from './developer-work.ts'
import { splitPrompt } from './plan-prompts.ts'
import { readSplit } from './read-crew-replies.ts'
import { splitTask } from './task-graph.ts'

const tasks = [planTask('base'), planTask('big', ['base']), planTask('top', ['big', '~base'])]
const limits = { maxTasks: 6 }
const parts = [
  planTask('one', [], { scope: ['src/big/one/**'] }),
  planTask('two', ['one', '~base'], { scope: ['src/big/two.ts'] }),
]
const answer = (list: unknown) => JSON.stringify({ summary: 's', tasks: list })

test('[COL-63] a task that is too large is split: its parts wait as it did, and others wait for all of them', () => {
  const read = readSplit(answer(parts), { tasks, taskId: 'big', limits })
  if (!('value' in read)) return expect.unreachable(read.problems.join())
  expect(
    read.value.map((task) => [task.task_id, task.depends_on.map((each) => `${each.type} ${each.task_id}`)]),
  ).toEqual([
    ['base', []],
    ['one', ['hard base']],
    ['two', ['hard one', 'hard base']],
    ['top', ['hard one', 'hard two', 'soft base']],
  ])
  expect(checkPlan({ tasks: read.value }, limits)).toEqual([])
})

test('[COL-63] a split that leaves the scope, meets another task or takes its name is refused', () => {
  const rest = planTask('rest', ['one'], { scope: ['src/big/z.ts'] })
  const problems = (list: PlanTask[]) => {
    const whole = list.length > 1 ? list : [...list, rest]
    const read = readSplit(answer(whole), { tasks, taskId: 'big', limits })
    return 'problems' in read ? read.problems.join('; ') : ''
  }
  expect(problems([planTask('one', [], { scope: ['docs/**'] })])).toContain('outside of the scope')
  for (const glob of ['src/**', 'src/*/one', 'src/**/big', '**', 'src/bi*'])
    expect(problems([planTask('one', [], { scope: [glob] })])).toContain('outside of the scope')
  for (const glob of ['src/big/**', 'src/big/*.ts', 'src/big/**/a?.ts', 'src/big/a'])
    expect(problems([planTask('one', [], { scope: [glob] })])).toBe('')
  expect(problems([planTask('top', [], { scope: ['src/big/**'] }), rest])).toContain('twice')
  expect(problems(parts.map((part) => ({ ...part, scope: ['src/big/**'], depends_on: [] })))).toContain(
    'same time',
  )
})

test('[COL-63] a part that asks for more than its task keeps the stronger dependency, and never a wider scope', () => {
  const top = planTask('top', ['~base'], { scope: ['*/**/x.ts'] })
  const split = (part: PlanTask) =>
    readSplit(answer([part, planTask('two', ['one'], { scope: ['a/x.ts'] })]), {
      tasks: [planTask('base', [], { scope: ['b.ts'] }), top],
      taskId: 'top',
      limits,
    })
  expect(split(planTask('one', ['base'], { scope: ['a/**/x.ts'] }))).toMatchObject({
    value: [{}, { task_id: 'one', depends_on: [{ task_id: 'base', type: 'hard' }] }, { task_id: 'two' }],
  })
  expect(split(planTask('one', [], { scope: ['**/x.ts'] }))).toHaveProperty('problems')
})

test('[COL-63] an architect that is asked for a split is told the task, the names and the form', () => {
  const prompt = splitPrompt({ task: planTask('big'), why: 'it used up its budget', taken: ['base', 'top'] })
  for (const words of ['All of big.', 'it used up its budget', 'taken: base, top', '"tasks"'])
    expect(prompt).toContain(words)
})

test('[COL-31] a conflict becomes work on the files that conflict', () => {
  const files = ['src/[id]/a*.ts', 'b.ts']
  const { task } = conflictWork({ task: planTask('a'), files, number: 2 })
  expect(task).toMatchObject({ task_id: 'a-merge2', depends_on: [] })
  for (const file of files) expect(task.scope.some((glob) => matchesGlob(file, glob))).toBe(true)
  expect(task.scope.some((glob) => matchesGlob('src/i/ab.ts', glob))).toBe(false)
  expect(task.description).toContain('- b.ts')
})

test('[COL-63] one part is no split, and what was split stays split in later rounds', () => {
  expect(
    readSplit(answer([planTask('one', [], { scope: ['src/big/a'] })]), { tasks, taskId: 'big', limits }),
  ).toEqual({
    problems: [expect.stringContaining('at least two')],
  })
  const work = tasks.map((task) => ({ task, attempts: [] }))
  const first = workAfterSplit(work, { task_id: 'big', parts })
  expect(first.map(({ task }) => task.task_id)).toEqual(
    splitTask(tasks, 'big', parts).map(({ task_id }) => task_id),
  )
  expect(first.find(({ task }) => task.task_id === parts[0]?.task_id)?.attempts).toMatchObject([
    { outcome: 'split', feedback: expect.stringContaining('a part of big') },
  ])
  const splits = [{ task_id: 'big-rev1', parts }]
  expect(tasksAfterSplits(tasks, splits)).toEqual(splitTask(tasks, 'big', parts))
  expect(newestAfterSplits(work, splits).map(({ task }) => task.task_id)).toEqual(
    splitTask(tasks, 'big', parts).map(({ task_id }) => task_id),
  )
})
