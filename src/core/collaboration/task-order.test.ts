import fc from 'fast-check'
import { expect, test } from 'vitest'
import { planTask } from '../../../test/support/collaboration.ts'
import { checkPlan } from './check-plan.ts'
import { dependencyCircle, integrationOrder } from './task-graph.ts'

test('[COL-31] work is put together after what it depends on, else as planned', () => {
  const tasks = [planTask('d', ['b', '~c']), planTask('a'), planTask('b', ['a']), planTask('c')]
  expect(integrationOrder(tasks).map((task) => task.task_id)).toEqual(['a', 'b', 'c', 'd'])
  expect(integrationOrder([planTask('a', ['b']), planTask('b', ['a'])])).toHaveLength(2)
})

const names = ['a', 'b', 'c', 'd', 'e', 'f']
const graph = fc
  .array(fc.subarray(names.flatMap((name) => [name, `~${name}`])), { minLength: 1, maxLength: 6 })
  .map((needs) => needs.map((each, i) => planTask(names[i] as string, each)))

test('[COL-31] any order is whole and holds, unless there is a circle, which is named', () => {
  fc.assert(
    fc.property(graph, (tasks) => {
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
