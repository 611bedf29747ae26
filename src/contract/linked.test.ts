import { expect, test } from 'vitest'
import { linked } from './linked.ts'

test('[MUS-85] a linked controller aborts with the other, and by itself leaves the other alone', () => {
  const outer = new AbortController()
  const [one, two] = [linked(outer.signal), linked(outer.signal)]
  one.abort()
  expect([outer.signal.aborted, two.signal.aborted]).toEqual([false, false])
  const reason = new Error('enough')
  outer.abort(reason)
  expect(two.signal.reason).toBe(reason)
  expect(linked(outer.signal).signal.reason).toBe(reason)
})

test('[MUS-85] once disposed it is over and listens no more', () => {
  const outer = new AbortController()
  const controller = linked(outer.signal)
  controller[Symbol.dispose]()
  expect(controller.signal.aborted).toBe(true)
  const before = controller.signal.reason
  outer.abort(new Error('later'))
  expect(controller.signal.reason).toBe(before)
})
