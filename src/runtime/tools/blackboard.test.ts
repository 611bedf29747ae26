import { expect, test } from 'vitest'
import { call, ownAgents, script } from '../../../test/support/own-agents.ts'

const board = (operation: string, more: object = {}) => call('Blackboard', { operation, id: 'port', ...more })
const put = (more: object) => board('put', more)

/** What the last of these calls answered. */
async function answer(...calls: readonly object[]) {
  const m = await ownAgents()
  const id = await m.open()
  await m.say(id, script(...calls, { text: '${lastToolResult}' }))
  const [end] = await m.until('agent.completed')
  const output = end?.payload.output as { text: string }
  return { text: output.text, events: await m.events() }
}

/** It is over before the next turn of the model. */
const short = { ttl_seconds: 0.001 }

test('[MUS-261] a change carries the type, the confidence and the time to live that it was given', async () => {
  const { text, events } = await answer(
    put({ content: 80, type: 'hypothesis', confidence: 0.2 }),
    put({ content: 81, type: 'fact', confidence: 0.9, ttl_seconds: 3600, version: 1 }),
    board('get'),
  )
  const item = JSON.parse(text)
  expect(item).toMatchObject({ type: 'fact', content: 81, confidence: 0.9, version: 2 })
  expect(item.expiresAtMs - item.updatedAtMs).toBe(3_600_000)
  expect(events.find(({ type }) => type === 'blackboard.item.updated')?.payload).toMatchObject({
    itemType: 'fact',
    confidence: 0.9,
    ttlMs: 3_600_000,
  })
})

test('[MUS-261] what a change does not name stays as it is, but for the time to live', async () => {
  const { text } = await answer(
    put({ content: 80, type: 'decision', confidence: 0.2, ttl_seconds: 3600 }),
    put({ content: 81, version: 1 }),
    board('get'),
  )
  const item = JSON.parse(text)
  expect(item).toMatchObject({ type: 'decision', content: 81, confidence: 0.2, version: 2 })
  expect(item).not.toHaveProperty('expiresAtMs')
})

test('[MUS-261] an item whose time is over is not there: it can be put anew, and not be changed', async () => {
  const changed = await answer(put({ content: 80, ...short }), put({ content: 81, version: 1 }))
  expect(changed.text).toContain('there is no item port')
  expect(changed.events.map(({ type }) => type)).not.toContain('blackboard.item.updated')
  const anew = await answer(put({ content: 80, ...short }), put({ content: 81 }), board('get'))
  expect(JSON.parse(anew.text)).toMatchObject({ type: 'fact', content: 81 })
})

test('[MUS-261] who saw an item before its time was over does not write over what came after it', async () => {
  const { text } = await answer(
    put({ content: 80, ...short }),
    put({ content: 81 }),
    put({ content: 82, version: 1 }),
  )
  expect(text).toContain('port is now at version 2')
})
