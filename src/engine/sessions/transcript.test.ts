import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { manualClock } from '../../../test/http/manual-clock.ts'
import type { Signal } from '../../contract/signal.ts'
import { noEvidence } from '../../core/session/evidence/evidence.ts'
import { observe } from '../../core/session/evidence/observe.ts'
import type { Parts } from './session-parts.ts'
import type { SessionWatch } from './session-watch.ts'
import { TranscriptFollower } from './transcript.ts'

/** Follows two records, that of an agent and that of its subagent, given as lines. */
function following(
  files: Record<string, readonly string[]>,
  unreadable: ReadonlySet<string>,
  held?: readonly string[],
) {
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
        transcripts: async () => (held ?? Object.keys(files)).map((path) => ({ path })),
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

test('[MUS-329] the current record is that of the conversation which is held now; the one before is read to its end', async () => {
  const files: Record<string, string[]> = { '/old': ['one'] }
  const held = ['/old']
  const { follower, taken } = following(files, new Set(), held)
  await follower.settled()
  expect(follower.current).toBe('/old')
  files['/old']?.push('two')
  files['/new'] = ['three']
  held.splice(0, 1, '/new')
  await follower.settled()
  expect(follower.current).toBe('/new')
  expect(taken.toSorted()).toEqual(['one', 'three', 'two'])
})

test.for([
  ['its last answer', { kind: 'usage', responseId: 'r2', model: 'm' }],
  ['that it was interrupted', { kind: 'interrupted' }],
] as const)(
  '[MUS-348] the end of a turn is known once the record has %s, and an answer before the last call is neither',
  async ([, end]) => {
    const clock = manualClock()
    const at = clock.now()
    let evidence = noEvidence
    const sees = (signal: object) => {
      evidence = observe(evidence, { source: 'transcript', at, ...signal } as Signal)
    }
    sees({ kind: 'prompt', origin: 'person' })
    sees({ kind: 'usage', responseId: 'r1', model: 'm', at: at + 1 })
    sees({ kind: 'tool-end', callId: 'c', ok: true, at: at + 2 })
    let isTold = false
    const waiting = new TranscriptFollower(
      { clock, files: {}, clis: {}, surroundings: { env: {} } } as unknown as Parts,
      {
        state: () => undefined,
        get evidence() {
          return evidence
        },
      } as unknown as SessionWatch,
    )
    const told = waiting.answered(new AbortController().signal).then(() => {
      isTold = true
    })
    const passes = async () => {
      for (let i = 0; i < 10; i++) await turn()
      clock.advance(40)
      for (let i = 0; i < 10; i++) await turn()
    }
    await passes()
    expect(isTold).toBe(false)
    sees({ ...end, at: at + 3 })
    await passes()
    await told
  },
)
