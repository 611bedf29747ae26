import { expect, test } from 'vitest'
import { manualClock } from '../../test/http/manual-clock.ts'
import { createRedactor } from '../core/redaction/redactor.ts'
import { lastLines } from './last-lines.ts'
import type { LiveRun } from './live-run.ts'

const root = { sessionId: 's', runId: 'r', actor: 'coder' }

function bash() {
  const clock = manualClock()
  const told: string[] = []
  const bugs: unknown[] = []
  let looks = 0
  const output = lastLines(
    {
      clock,
      textStream() {
        const { push, end } = createRedactor().stream()
        return {
          push(chunk) {
            looks += chunk.length
            return push(chunk)
          },
          end,
        }
      },
      onOutput({ line }) {
        if (line === 'broken') throw new Error('a bug')
        told.push(line)
      },
      onBug: (error) => bugs.push(error),
    },
    { root } as LiveRun,
    'Bash',
  )
  const pass = async (ms: number) => {
    clock.advance(ms)
    await Promise.resolve()
  }
  return { ...output, clock, told, bugs, pass, looked: () => looks }
}

test('[RUN-31] the last line is told at once, then a few times a second, and the last of all after a pause', async () => {
  const b = bash()
  for (let i = 0; i < 1000; i++) b.push(`line ${i}\n\n  \n`)
  expect(b.told).toEqual(['line 0'])
  expect(b.clock.sleepers()).toBe(1)
  await b.pass(400)
  expect(b.told).toEqual(['line 0', 'line 999'])
  for (let i = 0; i < 100; i++) {
    b.push(`step ${i}\r`)
    await b.pass(10)
  }
  expect(b.told.length).toBeLessThanOrEqual(5)
  b.push('the end\n')
  b.end()
  await b.pass(1000)
  b.push('too late\n')
  expect(b.told).not.toContain('the end')
  expect(b.told).not.toContain('too late')
  expect(b.clock.sleepers()).toBe(0)
})

test('[RUN-31] a line is short, plain and without its secrets, also one that comes in pieces', async () => {
  const b = bash()
  b.push(`\u001b[32mgreen\u001b[0m \u001b]0;title\u0007and\u001b]8;;x\u001b\\\ttabs\n`)
  expect(b.told).toEqual(['green and tabs'])
  const secret = `ghp_${'a1B2'.repeat(9)}`
  b.push(`with ${secret.slice(0, 12)}`)
  await b.pass(400)
  b.push(`\u001b[1m${secret.slice(12)} in it\n`)
  await b.pass(400)
  expect(b.told.at(-1)).toMatch(/^with \[redacted:[\w-]+\] in it$/)
  expect(b.told.join()).not.toContain(secret.slice(0, 12))
  b.push(`${'x '.repeat(99)}y😀\n`)
  await b.pass(400)
  expect(b.told.at(-1)).toBe(`${'x '.repeat(99)}y`)
})

test('[RUN-31] of a flood little is looked at, and nothing is told before a secret in it must be over', async () => {
  const b = bash()
  const key = `-----BEGIN PRIVATE KEY-----\n${`${'Ab9+'.repeat(16)}\n`.repeat(30)}`
  for (let i = 0; i < 100; i++) b.push(`${'flood '.repeat(10_000)}\n`)
  b.push(key)
  expect(b.looked()).toBeLessThan(70_000)
  await b.pass(400)
  const told = b.told.length
  b.push(`${'Ab9+'.repeat(16)}\n-----END PRIVATE KEY-----\n`)
  expect(b.told).toHaveLength(told)
  b.push(`${'quiet\n'.repeat(2000)}`)
  b.push('all is well\n')
  await b.pass(400)
  expect(b.told.at(-1)).toBe('all is well')
})

test('[RUN-31] what goes wrong with it is told, and the call goes on', () => {
  const b = bash()
  b.push('broken\n')
  b.push('next\n')
  expect(b.bugs).toHaveLength(1)
  expect(b.told).toEqual([])
})
