import { expect, test } from 'vitest'
import { demonstrationRequest } from '../../src/contract/demonstration.ts'
import { crewDaemon } from '../support/crew-daemon.ts'

test('[COL-74] a whole run: planned, done side by side, reviewed, mended, approved, ready to land', async () => {
  const m = await crewDaemon()
  const { workflow_id, session_id, branch } = await m.crew(demonstrationRequest)
  const flow = await m.ended(workflow_id)
  if (flow.status !== 'completed') {
    for (const event of await m.events(session_id))
      console.log(event.seq, event.type, JSON.stringify(event.payload).slice(0, 300))
  }
  expect(flow).toMatchObject({ status: 'completed', report: { outcome: 'approved' } })
  console.log(JSON.stringify(flow, null, 1), branch)
})
