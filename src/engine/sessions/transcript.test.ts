import { expect, test } from 'vitest'
import { manualClock } from '../../../test/http/manual-clock.ts'
import type { Signal } from '../../contract/signal.ts'
import type { Parts } from './session-parts.ts'
import type { SessionWatch } from './session-watch.ts'
import { TranscriptFollower } from './transcript.ts'

/** Follows two records, that of an agent and that of its subagent, given as lines. */
function following(files: Record<string, readonly string[]>, unreadable: ReadonlySet<string>) {
  const bugs: string[] = []
  const taken: string[] = []
  const parts = {
    clock: manualClock(),
    surroundings: { env: {} },
    files: {
      watch: () => {},
      async read(path: string, offset: number) {
        if (unreadable.has(path)) throw new Error(`no ${path}`)
        const lines = (files[path] ?? []).map((text, i) => ({ text, start: i, end: i + 1 }))
        return { lines: lines.slice(offset) }
      },
    },
    clis: {
      codex: {
        transcripts: async () => Object.keys(files).map((path) => ({ path })),
        dialect: {
          line(text: string): readonly Signal[] {
            if (text === 'odd') throw new TypeError('a line like no other')
            return [{ kind: 'text', source: 'transcript', at: 0, text } as Signal]
          },
        },
      },
    },
    onBug: (error: unknown, where: string) => bugs.push(`${where}: ${String(error)}`),
  } as unknown as Parts
  const watch = {
    id: 'ses_a',
    evidence: { marks: {} },
    state: () => ({ managed: { cli: 'codex', workingDir: '/', startedAtMs: 0 } }),
    take: async (signals: readonly Signal[]) => {
      for (const signal of signals) if (signal.kind === 'text') taken.push(signal.text ?? '')
    },
  } as unknown as SessionWatch
  return { follower: new TranscriptFollower(parts, watch), bugs, taken }
}

test('[MUS-283] a line that cannot be read is told once and passed over', async () => {
  const { follower, bugs, taken } = following({ '/a': ['one', 'odd', 'two'] }, new Set())
  await follower.settled()
  await follower.settled()
  expect(taken).toEqual(['one', 'two'])
  expect(bugs).toEqual(['a line of the transcript of ses_a, skipped: /a:1: TypeError: a line like no other'])
})

test('[MUS-283] a record that cannot be read holds up no other', async () => {
  const { follower, bugs, taken } = following({ '/a': ['one'], '/b': ['two'] }, new Set(['/a']))
  await follower.settled()
  expect(taken).toEqual(['two'])
  expect(bugs).toEqual(['transcript of ses_a: /a: Error: no /a'])
})
