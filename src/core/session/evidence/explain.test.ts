import { expect, test } from 'vitest'
import type { Signal } from '../../../contract/signal.ts'
import { noEvidence } from './evidence.ts'
import { observe } from './observe.ts'
import { explain, judge } from './verdict.ts'

const prompt: Signal = { kind: 'prompt', origin: 'person', source: 'hook', at: 1000 }
const ended: Signal = { kind: 'turn-end', background: 0, source: 'hook', at: 9000 }
const calm: Signal = {
  kind: 'screen',
  reading: { composer: { state: 'empty' }, isWorking: false },
  source: 'pane',
  at: 12_000,
}
const gone: Signal = { kind: 'exited', code: 1, source: 'process', at: 20_000 }
const ask: Signal = { kind: 'asking', ask: 'permission', tool: 'Bash', source: 'hook', at: 5000 }

const explained = (signals: readonly Signal[], now: number) =>
  explain(signals.reduce(observe, noEvidence), { now, idleAfterMs: 600_000 })

test('[MUS-136] an explanation has the verdict, every sign with its age, and which of them counted', () => {
  const evidence = [prompt, ended, calm].reduce(observe, noEvidence)
  const options = { now: 13_000, idleAfterMs: 600_000 }
  const { verdict, signs } = explain(evidence, options)
  expect(verdict).toEqual(judge(evidence, options))
  expect(signs).toEqual([
    {
      signal: 'turn-end',
      source: 'hook',
      ageMs: 4000,
      weight: 0.88,
      says: 'the turn ended, 0 left in the background',
      counted: true,
    },
    {
      signal: 'prompt',
      source: 'hook',
      ageMs: 12_000,
      weight: 0.84,
      says: 'a prompt was accepted',
      counted: false,
    },
    {
      signal: 'screen-calm',
      source: 'pane',
      ageMs: 1000,
      weight: 0.6,
      says: 'the screen shows a box (empty) and no work',
      counted: false,
    },
  ])
})

test('[MUS-136] every state says what would change it, and silence is among it where it would', () => {
  const changes = (signals: readonly Signal[], now: number) => explained(signals, now).wouldChange.join('\n')
  expect(changes([], 0)).toMatch(/ready would make it idle/)
  expect(changes([prompt], 2000)).toMatch(/end of the turn.* would make it idle/)
  expect(changes([prompt], 2000)).toMatch(/silence for another 179 s would make it running \(stale\)/)
  expect(changes([prompt], 200_000)).toMatch(/any sign of work would make it healthy again/)
  expect(changes([prompt, ask], 6000)).toMatch(/end of the tool that was asked about would make it running/)
  expect(changes([prompt, ended], 10_000)).toMatch(/a prompt that it accepts would make it running/)
  expect(changes([prompt, gone], 21_000)).toMatch(/would bring it back/)
  expect(changes([prompt, { ...ended, background: 1 } as Signal], 10_000)).toMatch(
    /nothing in the background/,
  )
})

test('[MUS-136] signs of calls, questions and subagents are told too', () => {
  const start: Signal = { kind: 'tool-start', callId: 'c', tool: 'Bash', source: 'hook', at: 4000 }
  const agent: Signal = {
    kind: 'subagent-start',
    agentId: 'a1',
    agentType: 'Explore',
    source: 'hook',
    at: 4500,
  }
  const said = explained([prompt, start, agent, ask], 6000).signs.map(({ says }) => says)
  expect(said).toContain('it asked for a permission (Bash)')
  expect(said).toContain('a call (Bash) has started and has not been seen to end')
  expect(said).toContain('subagent a1 was last seen and has not ended')
})
