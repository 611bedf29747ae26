import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { systemClock } from './clock.ts'

test('a wait ends with the reason of its signal, at once, and lets go of it either way', async () => {
  const { signal, abort } = withAbort()
  const waiting = systemClock.sleep(60_000, signal)
  abort('enough')
  await expect(waiting).rejects.toBe('enough')
  await expect(systemClock.sleep(0, signal)).rejects.toBe('enough')

  const other = withAbort()
  await systemClock.sleep(0, other.signal)
  expect(getEventListeners(other.signal, 'abort')).toEqual([])
})

function withAbort() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: (reason: string) => controller.abort(reason) }
}
