import { expect, test } from 'vitest'
import { AppError } from '../contract/errors.ts'
import { type Flow, LimitReached } from '../ports/durable.ts'
import type { Work } from '../ports/workers.ts'
import { Allowance } from './allowance.ts'

test('[MUS-280] a command that runs when the limit is reached is ended, and none begins after it', async () => {
  const budgets = { over: async () => undefined, watch: () => ({ [Symbol.dispose]: () => {} }) }
  const flow = { root: () => ({ sessionId: 'ses' }) } as unknown as Flow
  using allowance = new Allowance({ workers: { run: async () => expect.fail() }, budgets }, flow)
  let begun = 0
  const checks = allowance.checks({
    run: (_command, _where, signal) => {
      begun += 1
      const { promise, reject } = Promise.withResolvers<never>()
      signal.addEventListener('abort', () => reject(signal.reason as Error))
      return promise
    },
  })
  const where = { folder: '/', timeoutMs: 1000 }
  const running = checks.run('npm test', where, new AbortController().signal)
  allowance.late(5)
  await expect(running).rejects.toBeInstanceOf(LimitReached)
  await expect(checks.run('npm test', where, new AbortController().signal)).rejects.toThrow('5 min')
  expect(begun).toBe(1)
})

test('[MUS-280] whoever is stopped by a limit has ended by it, whatever it says of its end', async () => {
  const budgets = { over: async () => undefined, watch: () => ({ [Symbol.dispose]: () => {} }) }
  const flow = { root: () => ({ sessionId: 'ses' }) } as unknown as Flow
  const workers = {
    run: (_work: Work, signal: AbortSignal) => {
      const { promise, reject } = Promise.withResolvers<never>()
      signal.addEventListener('abort', () => reject(new AppError('unavailable', 'the terminal is gone')))
      return promise
    },
  }
  using allowance = new Allowance({ workers, budgets }, flow)
  const running = allowance.run({} as Work, new AbortController().signal)
  running.catch(() => {})
  await new Promise((resolve) => setImmediate(resolve))
  allowance.late(5)
  await expect(running).rejects.toBeInstanceOf(LimitReached)
})
