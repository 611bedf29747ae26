import { expect, test } from 'vitest'
import type { DurableBed } from '../../../test/suites/durable.ts'
import { asker } from '../../../test/support/asker.ts'
import { openScriptBed, personAt, scriptInput } from '../../../test/support/script-bed.ts'
import { systemClock } from '../../adapters/system/clock.ts'
import type { AgentEvent } from '../../contract/event.ts'

const nap = (ms: number) => systemClock.sleep(ms, new AbortController().signal)
const meta = { name: 'a', description: 'what it does', phases: ['find', 'sum'] }

async function eventually(bed: DurableBed, holds: (events: readonly AgentEvent[]) => boolean) {
  while (!holds(await bed.events())) await nap(5)
}

const forkOf = async (bed: DurableBed, id: string, before?: string) => {
  const at = await bed.place()
  await bed.durable().fork(id, { as: `${id}2`, at, ...(before !== undefined && { before }) })
  const { result } = (await bed.durable().result(`${id}2`)) as { result: unknown }
  const told = (await bed.events()).filter(({ sessionId }) => sessionId === at.sessionId)
  return { result, told: told.map(({ type }) => type).filter((type) => !type.includes('checkpoint.saved')) }
}

test('[MUS-173] the fork of a script that was cancelled within a phase has phases of its own and asks only the others', async () => {
  let isStuck = true
  const { bed, asked, run } = await openScriptBed(async ({ prompt }, signal) => {
    if (prompt === 'second' && isStuck) await systemClock.sleep(100_000, signal)
    return `<${prompt}>`
  })
  const input = scriptInput(
    `await phase('find')
    const first = await agent('first')
    log('one is here')
    await checkpoint({ first })
    const second = await agent('second')
    await phase('sum')
    return [first, second]`,
    { meta },
  )
  run(input).catch(() => {})
  while (asked.length < 2) await nap(5)
  await bed.durable().cancel('w', { by: asker('me'), reason: 'enough' })
  isStuck = false
  const { result, told } = await forkOf(bed, 'w')
  expect(result).toEqual(['<first>', '<second>'])
  expect(asked.map(({ prompt }) => prompt)).toEqual(['first', 'second', 'second'])
  expect(told).toEqual([
    'session.started',
    'workflow.started',
    'workflow.created',
    'workflow.approved',
    'workflow.phase.started',
    'progress.checkpoint',
    'agent.task.assigned',
    'task.completed',
    'workflow.phase.completed',
    'workflow.phase.started',
    'workflow.phase.completed',
    'workflow.finalized',
  ])
  // One that has come to its end can be forked too, and from a step on.
  expect((await forkOf(bed, 'w2')).result).toEqual(result)
  expect(asked).toHaveLength(3)
  expect((await forkOf(bed, 'w22', 'agent#2')).result).toEqual(result)
  expect(asked.map(({ prompt }) => prompt)).toEqual(['first', 'second', 'second', 'second'])
})

test('[MUS-173] the fork of a script that waits for a person asks them in its own session', async () => {
  const { bed, asked, run } = await openScriptBed(({ prompt }) => `<${prompt}>`)
  const input = scriptInput(
    `const first = await agent('first')
    const said = await approve('Go on?')
    return [first, said.approved]`,
    { meta },
  )
  run(input).catch(() => {})
  await eventually(bed, (events) => events.some(({ type }) => type === 'approval.requested'))
  await bed.durable().cancel('w', { by: asker('me'), reason: 'later' })
  using _person = personAt(bed, () => ({ verdict: 'allow', scope: 'once' }))
  const fork = await forkOf(bed, 'w')
  expect(fork.result).toEqual(['<first>', true])
  expect(fork.told.filter((type) => type.startsWith('approval.'))).toEqual([
    'approval.requested',
    'approval.granted',
  ])
  // What they answered is not asked again.
  const again = await forkOf(bed, 'w2')
  expect(again.result).toEqual(fork.result)
  expect(again.told.filter((type) => type.startsWith('approval.'))).toEqual([])
  expect(asked).toHaveLength(1)
})

test('[MUS-280] the fork of a script that took too long has as much time again, and tells the script the same time', async () => {
  let isStuck = true
  const { bed, asked, run } = await openScriptBed(async ({ prompt }, signal) => {
    if (prompt === 'second' && isStuck) await systemClock.sleep(100_000, signal)
    return `<${prompt}>`
  })
  const input = scriptInput(
    `await agent('at ' + Date.now())
    return agent('second')`,
    { meta, limits: { concurrency: 1, agents: 10, minutes: 0.03 } },
  )
  await expect(run(input)).rejects.toThrow('it took longer than')
  isStuck = false
  expect((await forkOf(bed, 'w')).result).toBe('<second>')
  expect(asked).toHaveLength(3)
})
