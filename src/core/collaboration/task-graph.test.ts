import fc from 'fast-check'
import { expect, test } from 'vitest'
import { planTask } from '../../../test/support/collaboration.ts'
import { runs } from '../../../test/support/size.ts'
import type { TaskState } from '../../contract/collaboration/crew-report.ts'
import type { PlanTask } from '../../contract/collaboration/replies.ts'
import { matchesGlob } from '../delegation/globs.ts'
import { checkPlan } from './check-plan.ts'
import { splitPrompt } from './plan-prompts.ts'
import { conflictWork, newestAfterSplits, tasksAfterSplits, workAfterSplit } from './planned-work.ts'
import { readSplit } from './read-crew-replies.ts'
import {
  dependencyCircle,
  finishedBefore,
  integrationOrder,
  nextTasks,
  splitTask,
  type TaskStates,
} from './task-graph.ts'

const next = (tasks: ReturnType<typeof planTask>[], states: TaskStates, atOnce = 4) =>
  nextTasks({ tasks, states, atOnce })

test('[COL-31] a hard dependency waits until it is complete, a soft one until it has begun', () => {
  const tasks = [planTask('a'), planTask('hard', ['a']), planTask('soft', ['~a'])]
  expect(next(tasks, {})).toEqual({ start: ['a'], blocked: [] })
  expect(next(tasks, { a: 'running' })).toEqual({ start: ['soft'], blocked: [] })
  expect(next(tasks, { a: 'completed', soft: 'running' })).toEqual({ start: ['hard'], blocked: [] })
  expect(next(tasks, { a: 'failed' })).toMatchObject({ start: ['soft'], blocked: [{ task_id: 'hard' }] })
})

test.each([
  ['failed', 'failed'],
  ['partial', 'is only partly done'],
  ['cancelled', 'was cancelled'],
] as const)('[COL-31] what needs a task that is %s is blocked, and in turn what needs it', (state, words) => {
  const tasks = [planTask('c', ['b']), planTask('a'), planTask('b', ['a']), planTask('free', ['~c'])]
  expect(next(tasks, { a: state })).toEqual({
    start: ['free'],
    blocked: [
      { task_id: 'c', because: 'it needs b, which cannot start' },
      { task_id: 'b', because: `it needs a, which ${words}` },
    ],
  })
})

test('[COL-31] a soft dependency that cannot start still keeps its order with what runs', () => {
  const tasks = [planTask('a'), planTask('d'), planTask('b', ['a', 'd']), planTask('c', ['~b'])]
  expect(next(tasks, { a: 'failed', d: 'running' })).toMatchObject({ start: [], blocked: [{ task_id: 'b' }] })
  expect(next(tasks, { a: 'failed', d: 'completed' })).toMatchObject({ start: ['c'] })
  expect(next(tasks, { b: 'cancelled', d: 'running' }, 1)).toEqual({ start: [], blocked: [] })
})

test('[COL-30] no more tasks start than developers are free, the most urgent first', () => {
  const tasks = [
    planTask('low', [], { priority: 'low' }),
    planTask('one'),
    planTask('two'),
    planTask('high', [], { priority: 'high' }),
  ]
  expect(next(tasks, {}, 3).start).toEqual(['high', 'one', 'two'])
  expect(next(tasks, { high: 'running', one: 'running' }, 3).start).toEqual(['two'])
  expect(next(tasks, { high: 'running' }, 1)).toEqual({ start: [], blocked: [] })
  expect(next(tasks, {}, 0).start).toEqual(['high'])
})

const names = ['a', 'b', 'c', 'd', 'e']
const endings: TaskState[] = ['completed', 'completed', 'partial', 'failed', 'cancelled']
const graph = fc
  .array(fc.subarray(names.flatMap((name) => [name, `~${name}`])), { minLength: 1, maxLength: 5 })
  .map((needs) => needs.map((each, i) => planTask(names[i] as string, each)))

test('[COL-31] played to its end, any graph ends: no task starts too early and none is left without a word', () => {
  fc.assert(
    fc.property(graph, fc.array(fc.nat(4)), fc.integer({ min: 1, max: 3 }), (tasks, chance, atOnce) => {
      const states: Record<string, TaskState> = {}
      for (let turn = 0; turn < 50; turn++) {
        const step = nextTasks({ tasks, states, atOnce })
        for (const id of step.start) {
          const task = tasks.find((each) => each.task_id === id)
          for (const { task_id, type } of task?.depends_on ?? [])
            if (type === 'hard') expect(states[task_id]).toBe('completed')
          for (const before of finishedBefore(tasks, id)) expect(states[before]).not.toBe('running')
          states[id] = 'running'
        }
        const running = tasks.map((task) => task.task_id).filter((id) => states[id] === 'running')
        expect(running.length).toBeLessThanOrEqual(atOnce)
        if (running.length === 0) {
          const blocked = step.blocked.map((each) => each.task_id)
          for (const { task_id } of tasks) expect(task_id in states || blocked.includes(task_id)).toBe(true)
          return
        }
        const picked = running[(chance[turn] ?? 0) % running.length] as string
        states[picked] = endings[(chance[turn] ?? 0) % endings.length] as TaskState
      }
      expect.unreachable('it never ended')
    }),
    runs(2000),
  )
})

test('[COL-31] work is put together after what it depends on, else as planned', () => {
  const tasks = [planTask('d', ['b', '~c']), planTask('a'), planTask('b', ['a']), planTask('c')]
  expect(integrationOrder(tasks).map((task) => task.task_id)).toEqual(['a', 'b', 'c', 'd'])
  expect(integrationOrder([planTask('a', ['b']), planTask('b', ['a'])])).toHaveLength(2)
})

const taskNames = ['a', 'b', 'c', 'd', 'e', 'f']
const orderedTasks = fc
  .array(fc.subarray(taskNames.flatMap((name) => [name, `~${name}`])), { minLength: 1, maxLength: 6 })
  .map((needs) => needs.map((each, i) => planTask(taskNames[i] as string, each)))

test('[COL-31] any order is whole and holds, unless there is a circle, which is named', () => {
  fc.assert(
    fc.property(orderedTasks, (tasks) => {
      const order = integrationOrder(tasks).map((task) => task.task_id)
      expect(order.toSorted()).toEqual(tasks.map((task) => task.task_id).toSorted())
      const circle = dependencyCircle(tasks)
      if (circle) {
        expect(circle[0]).toBe(circle.at(-1))
        circle.slice(0, -1).forEach((id, i) => {
          const needs = tasks.find((task) => task.task_id === id)?.depends_on.map((each) => each.task_id)
          expect(needs).toContain(circle[i + 1])
        })
        expect(checkPlan({ tasks }, { maxTasks: 9 }).join()).toContain(circle.join(' → '))
        return
      }
      for (const task of tasks)
        for (const { task_id } of task.depends_on)
          if (order.includes(task_id))
            expect(order.indexOf(task_id)).toBeLessThan(order.indexOf(task.task_id))
    }),
  )
})

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
  expect(problems([planTask('one', [], { scope: ['docs/**'] })])).toContain('outside the scope')
  for (const glob of ['src/**', 'src/*/one', 'src/**/big', '**', 'src/bi*'])
    expect(problems([planTask('one', [], { scope: [glob] })])).toContain('outside the scope')
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
