import { expect, test } from 'vitest'
import type { AgentEvent, Observed } from '../../contract/event.ts'
import { PausedTime } from './open-approvals.ts'

const at = (second: number, type: AgentEvent['type'], payload: object = {}) =>
  ({ type, payload, timestamp: new Date(second * 1000).toISOString() }) as Observed

test('[COL-67] work stands still while a person is asked, and until it goes on after a restart', () => {
  const seconds = (isAway: boolean) => {
    const standstill = new PausedTime()
    for (const event of [
      at(0, 'agent.spawned'),
      at(10, 'approval.requested', { approvalId: 'a' }),
      at(15, 'approval.requested', { approvalId: 'b' }),
      at(20, 'approval.granted', { approvalId: 'a' }),
      at(30, 'approval.expired', { approvalId: 'b' }),
      at(40, 'tool.call.completed'),
      at(100, 'decision.made', { subject: 'retry', choice: 'resume' }),
      at(110, 'decision.made', { subject: 'model', choice: 'resume' }),
      at(120, 'llm.request.completed'),
    ])
      standstill.take(event)
    return standstill.ms(150_000, { isAway }) / 1000
  }
  expect(seconds(false)).toBe(20 + 60)
  expect(seconds(true)).toBe(20 + 60 + 30)
})
