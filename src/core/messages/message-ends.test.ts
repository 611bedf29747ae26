import { expect, test } from 'vitest'
import type { By, Draft } from '../../contract/event.ts'
import { evolveEnds, type MessageEnds } from './message-ends.ts'
import { evolveQueue, type Queued } from './message-queue.ts'

type Step = readonly [type: string, payload: object, by?: By | undefined]

/** Folds both as a session does; each step is a second after the one before. */
function fold(...steps: readonly Step[]): MessageEnds | undefined {
  let queue: readonly Queued[] = []
  let ends: MessageEnds | undefined
  steps.forEach(([type, payload, by], second) => {
    const event = { type, spanId: 's', payload } as unknown as Draft
    const given = { recordedAt: `2026-01-27T15:10:0${second}.000Z`, by }
    ends = evolveEnds(ends, event, { ...given, queue })
    queue = evolveQueue(queue, event, given)
  })
  return ends
}

const queued = (messageId: string, by?: By): Step => [
  'message.queued',
  { messageId, preview: `text of ${messageId}`, vault: `v-${messageId}` },
  by,
]
const failed = (messageId: string, by: By = { kind: 'daemon' }): Step => [
  'message.failed',
  { messageId, errorType: 'timeout', reason: 'nothing shows it' },
  by,
]

test('[MUS-321] a dead letter is known with its reason and its sender until something sent after it has arrived', () => {
  const sender = { kind: 'session', id: 'ses_1' } as const
  const dead = fold(queued('a', sender), queued('b'), failed('a'))
  expect(dead?.dead).toMatchObject([
    { messageId: 'a', reason: 'nothing shows it', preview: 'text of a', sender: 'ses_1' },
  ])
  const steps = [queued('a', sender), queued('b'), failed('a')]
  // It was sent before the other failed: its sender may not know yet.
  expect(fold(...steps, ['message.accepted', { messageId: 'b' }])?.dead).toHaveLength(1)
  expect(fold(...steps, queued('c'), ['message.accepted', { messageId: 'c' }])?.dead).toEqual([])
  expect(fold(queued('a'), failed('a', { kind: 'operator' }))?.dead ?? []).toEqual([])
})

test('[MUS-322] what the program took last is known by where its text is kept', () => {
  const taken = fold(queued('a'), ['message.accepted', { messageId: 'a' }])
  expect(taken?.accepted).toEqual({ vault: 'v-a', atMs: Date.parse('2026-01-27T15:10:01.000Z') })
})
