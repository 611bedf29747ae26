import fc from 'fast-check'
import { expect, test } from 'vitest'
import { planTask } from '../../../test/support/collaboration.ts'
import { runs } from '../../../test/support/size.ts'
import type { TaskState } from '../../contract/collaboration/crew-report.ts'
import { nextTasks, type TaskStates } from './next-tasks.ts'
import { overBefore } from './task-order.ts'

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
  ['cancelled', 'was called off'],
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
          for (const before of overBefore(tasks, id)) expect(states[before]).not.toBe('running')
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
