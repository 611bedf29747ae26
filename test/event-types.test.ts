import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventTypes } from '../src/contract/event.ts'

const source = join(import.meta.dirname, '..', 'src')

/** What writes events: a call of one of these has the type among its first words. */
const calls = /(?<!\w)(?:draftOf|#draft|recorded|#?ended|#end|fleetFact|#record)\(/g
const near = 400

test('[MUS-375] every event type that is declared is written by something', () => {
  const written = new Set<string>()
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.startsWith('contract'),
  )
  for (const file of files) {
    const text = readFileSync(join(source, file), 'utf8')
    for (const { index } of text.matchAll(calls))
      for (const [, type = ''] of text.slice(index, index + near).matchAll(/'([a-z]+(?:\.[a-z_]+)+)'/g))
        written.add(type)
  }
  expect(eventTypes.filter((type) => !written.has(type))).toEqual([])
})
