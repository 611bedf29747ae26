import { expect, test } from 'vitest'
import { EventStream } from '../../../test/support/events.ts'
import type { EventOf, PayloadOf } from '../../contract/event.ts'
import { type workflowEnds, workflowOutcome } from './workflow-outcome.ts'

type Ends = (typeof workflowEnds)[number]

function endOf<T extends Ends>(type: T, payload: Omit<PayloadOf<T>, 'workflowId'>) {
  const stream = new EventStream()
  stream.add(type, { workflowId: 'w', ...payload } as never)
  return workflowOutcome(stream.events[0] as EventOf<Ends>)
}

const figures = { totalTokens: 0, totalAgents: 0, durationMs: 0 }
const gave = (result: unknown) => endOf('workflow.finalized', { ...figures, result })

test('[MUS-368] a workflow that gave what was asked for is completed, one that was cancelled says why', () => {
  expect(gave({ result: { report: 'anything', landed: null } })).toEqual({ outcome: 'completed' })
  expect(gave('text')).toEqual({ outcome: 'completed' })
  expect(gave(undefined)).toEqual({ outcome: 'completed' })
  expect(endOf('workflow.cancelled', { reason: 'enough' })).toEqual({ outcome: 'cancelled', why: 'enough' })
  expect(endOf('workflow.cancelled', {})).toEqual({ outcome: 'cancelled' })
})

test('[MUS-368] one that fell short has failed unless a reviewer or a person rejected it', () => {
  expect(endOf('workflow.failed', { error: 'no model' })).toEqual({ outcome: 'failed', why: 'no model' })
  expect(
    endOf('workflow.failed', { error: 'the plan was not approved:\nno', reason: 'no', outcome: 'rejected' }),
  ).toEqual({ outcome: 'rejected', why: 'no' })
  const error = { $blob: `sha256:${'0'.repeat(64)}`, bytes: 3, pack: 1, offset: 0, preview: 'far too' }
  expect(endOf('workflow.failed', { error: error as never })).toMatchObject({ why: 'far too' })
})

test.each([
  ['approved', 'completed'],
  ['force_approved', 'completed'],
  ['unapproved', 'rejected'],
  ['aborted', 'failed'],
  ['failed', 'failed'],
  ['cancelled', 'failed'],
] as const)('[MUS-368] a crew that an older journal calls done is %s, which is %s', (outcome, shown) => {
  expect(gave({ report: { outcome, summary: 'so it was' } })).toEqual(
    shown === 'completed' ? { outcome: shown } : { outcome: shown, why: 'so it was' },
  )
})

test('[MUS-368] landing that a person did not want is rejected, with what they said', () => {
  expect(gave({ landed: null, why: 'not now' })).toEqual({
    outcome: 'rejected',
    why: 'its work was not landed: not now',
  })
  expect(gave({ landed: null })).toMatchObject({ why: 'its work was not landed: a person rejected it' })
  expect(gave({ landed: 'c0ffee' })).toEqual({ outcome: 'completed' })
})
