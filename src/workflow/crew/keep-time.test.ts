import { expect, test } from 'vitest'
import { manualClock } from '../../../test/http/manual-clock.ts'
import type { Flow } from '../../ports/durable.ts'
import { keepTime } from './keep-time.ts'

const minuteMs = 60_000

/** A run that may take ten minutes, with what was written of it so many minutes ago. */
function run(written: readonly (readonly [string, number, object?])[] = []) {
  const clock = manualClock()
  const session = { lifecycle: 'running' }
  const began = clock.now()
  const events = async function* () {
    for (const [type, ago, payload = {}] of written)
      yield { type, timestamp: new Date(began - ago * minuteMs).toISOString(), payload }
  }
  const flow = { root: () => ({ sessionId: 's' }) } as unknown as Flow
  let isLate = false
  const over = new AbortController()
  void keepTime({ clock, engine: { session: () => session }, events } as never, flow, {
    limitMs: 10 * minuteMs,
    signal: over.signal,
  }).then(
    () => void (isLate = true),
    () => {},
  )
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  return {
    session,
    /** Whether its time is over after so many more minutes. */
    after: async (minutes: number): Promise<boolean> => {
      await settle()
      for (let n = 0; n < minutes * 60; n++) {
        clock.advance(1000)
        await settle()
      }
      return isLate
    },
  }
}

test('[MUS-175] the minutes of a run do not go on while it waits for a person', async () => {
  const { session, after } = run()
  expect(await after(6)).toBe(false)
  session.lifecycle = 'waiting_input'
  expect(await after(60)).toBe(false)
  session.lifecycle = 'running'
  expect(await after(3)).toBe(false)
  expect(await after(2)).toBe(true)
})

test('[MUS-175] what was used under an earlier daemon counts, what nobody was there for does not', async () => {
  const { after } = run([
    ['workflow.started', 1000],
    ['workflow.checkpoint.saved', 996],
    ['session.state.changed', 996, { to: 'waiting_input' }],
    ['session.state.changed', 900, { to: 'running' }],
    ['workflow.checkpoint.saved', 898],
    ['workflow.checkpoint.resumed', 0],
  ])
  expect(await after(3)).toBe(false)
  expect(await after(2)).toBe(true)
})
