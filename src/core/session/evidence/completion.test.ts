import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anySignals } from '../../../../test/corpus/signal-arbitrary.ts'
import { runs } from '../../../../test/support/size.ts'
import { ChildAgentsConfig } from '../../../contract/config/session-settings.ts'
import type { Signal } from '../../../contract/signal.ts'
import { type CompletionInput, completionScore, enoughPoints } from './completion.ts'
import { noEvidence } from './evidence.ts'
import { claimsOf } from './last-message.ts'
import { observe } from './observe.ts'
import { judge } from './verdict.ts'

const usual = ChildAgentsConfig.parse({})
const patterns = usual.auto_complete.completion_patterns
const config = (change: object) => ChildAgentsConfig.parse({ auto_complete: change })

const work: readonly Signal[] = [
  { kind: 'prompt', origin: 'person', source: 'hook', at: 1000 },
  { kind: 'tool-start', callId: 'c', tool: 'Bash', source: 'hook', at: 2000 },
  { kind: 'tool-end', callId: 'c', ok: true, source: 'hook', at: 4000 },
]
const end = (text: string): Signal => ({ kind: 'turn-end', text, background: 0, source: 'hook', at: 9000 })

function score(signals: readonly Signal[], now: number, more: Partial<CompletionInput> = {}) {
  const evidence = signals.reduce(observe, noEvidence)
  const { config: settings = usual } = more
  const idleAfterMs = settings.auto_complete.idle_timeout * 1000
  const verdict = judge(evidence, { now, idleAfterMs })
  return completionScore({ evidence, verdict, config: settings, ...more }, now)
}

describe('a completion that is guessed', () => {
  test('[SM-71] [SM-77] needs a claim and the end of the turn, and tells its signs', () => {
    const { isComplete, signs, score: sum } = score([...work, end('Done. All tests pass.')], 10_000)
    expect(isComplete).toBe(true)
    expect(signs.map(({ sign }) => sign)).toEqual(['ended', 'reported', 'claimed', 'worked'])
    expect(sum).toBe(85)
    expect(
      score([...work, { kind: 'text', text: 'Done.', source: 'transcript', at: 9000 }], 10_000).isComplete,
    ).toBe(false)
  })

  test('[SM-70] [SM-71] silence makes finished work complete, but never alone', () => {
    const signals = [...work, end('Wrote the report.')]
    expect(score(signals, 608_999).isComplete).toBe(false)
    expect(score(signals, 609_000).isComplete).toBe(true)
    expect(score(work, 3_600_000).isComplete).toBe(false)
    expect(score([{ kind: 'ready', source: 'hook', at: 0 }], 3_600_000).isComplete).toBe(false)
    expect(score(signals, 700_000, { resumedAt: 690_000 }).isComplete).toBe(false)
  })

  test('[SM-71] no single sign is enough, and neither is silence with one other', () => {
    const { signs } = score([...work, end('Done.')], 700_000, {
      milestone: { message: 'x', progressPercent: 100 },
    })
    const silent = signs.find(({ sign }) => sign === 'silent')?.points ?? 0
    expect(signs).toHaveLength(6)
    for (const { sign, points } of signs) {
      expect(points, sign).toBeLessThan(enoughPoints)
      if (sign !== 'silent') expect(points + silent, sign).toBeLessThan(enoughPoints)
    }
  })

  test('[SM-49] [SM-50] [SM-78] is not looked for in manual mode or when it is off', () => {
    const done = [...work, end('Done.')]
    expect(score(done, 700_000, { config: { ...usual, mode: 'manual' } })).toMatchObject({
      score: 0,
      isComplete: false,
    })
    expect(score(done, 700_000, { config: config({ enabled: false }) }).isComplete).toBe(false)
    fc.assert(
      fc.property(anySignals, fc.nat(2_000_000), (signals, now) => {
        expect(score(signals, now, { config: { ...usual, mode: 'manual' } }).isComplete).toBe(false)
      }),
    )
  })

  test('[SM-53] [SM-79] asks the parent when supervised or so configured', () => {
    const done = [...work, end('Done.')]
    expect(score(done, 10_000).needsApproval).toBe(false)
    for (const settings of [
      { ...usual, mode: 'supervised' as const },
      config({ require_parent_approval: true }),
    ])
      expect(score(done, 10_000, { config: settings })).toMatchObject({
        isComplete: true,
        needsApproval: true,
      })
  })

  test('[SM-52] phrases can be turned off and changed', () => {
    const done = [...work, end('Done.')]
    expect(score(done, 10_000, { config: config({ detect_completion_phrases: false }) }).isComplete).toBe(
      false,
    )
    expect(score(done, 700_000, { config: config({ detect_completion_phrases: false }) }).isComplete).toBe(
      true,
    )
    const own = { config: config({ completion_patterns: ['fertig'] }) }
    expect(score([...work, end('Fertig.')], 10_000, own).isComplete).toBe(true)
    expect(score(done, 10_000, own).isComplete).toBe(false)
  })

  test('[SM-75] [SM-123] questions, background, errors, limits, children and words of its own stand against it', () => {
    const done = [...work, end('Done.')]
    const against: readonly (readonly [string, readonly Signal[], Partial<CompletionInput>])[] = [
      ['children', done, { runningChildren: 1 }],
      ['explicit', done, { explicit: 'error' }],
      ['waiting', [...work, { ...end('Done.'), background: 1 } as Signal], {}],
      ['lifecycle', [...done, { kind: 'asking', ask: 'question', source: 'hook', at: 9500 }], {}],
      ['lifecycle', [...work, { kind: 'turn-failed', error: 'x', source: 'hook', at: 9000 }], {}],
      ['health', [...done, { kind: 'turn-failed', error: 'x', limit: {}, source: 'hook', at: 9001 }], {}],
      ['turn', [...done, { kind: 'interrupted', source: 'transcript', at: 9001 }], {}],
      ['text', [...work, end('Done. Shall I go on?')], {}],
      ['denied', [...work, end('Not done.')], {}],
      [
        'screen',
        [
          ...done,
          {
            kind: 'screen',
            reading: { composer: { state: 'empty' }, isWorking: true },
            source: 'pane',
            at: 9800,
          },
        ],
        {},
      ],
      ['health', [...done, { kind: 'exited', code: 0, source: 'process', at: 9900 }], {}],
    ]
    for (const [veto, signals, more] of against) {
      const { isComplete, signs } = score(signals, 10_000, more)
      expect(isComplete, veto).toBe(false)
      expect(
        signs.filter(({ isVeto }) => isVeto).map(({ sign }) => sign),
        veto,
      ).toContain(veto)
    }
  })

  test('[SM-75] a session that works, asks or failed is never called complete', () => {
    fc.assert(
      fc.property(anySignals, fc.nat(2_000_000), (signals, now) => {
        const evidence = signals.reduce(observe, noEvidence)
        const verdict = judge(evidence, { now, idleAfterMs: 600_000 })
        const { isComplete, score: sum } = completionScore({ evidence, verdict, config: usual }, now)
        expect(sum).toBeLessThanOrEqual(100)
        if (isComplete)
          expect([verdict.lifecycle, verdict.health, verdict.waitingFor]).toEqual(['idle', 'ok', undefined])
      }),
      runs(300),
    )
  })
})

describe('a completion phrase', () => {
  test.each([
    ['DONE', 1, 0],
    ['It is finished.', 1, 0],
    ['All  tests\tpass', 1, 0],
    ['Done. Done. Done.', 3, 0],
    ['abandoned, undone, donee, completeness', 0, 0],
    ['`done` and "complete"', 0, 0],
    ['```\nDone.\n```', 0, 0],
    ['not done', 0, 1],
    ["It isn't complete.", 0, 1],
    ['done?', 0, 1],
    ["when it's complete I will merge", 0, 1],
    ['the complete list', 0, 0],
    ['complete the form', 0, 0],
    ['3/5 done', 0, 1],
    ['5 of 5 done', 1, 0],
    ['80% complete', 0, 1],
    ['100% complete', 1, 0],
  ])('[SM-52] [SM-123] in %j is affirmed %i times and denied %i times', (text, affirmed, denied) => {
    expect(claimsOf(text, patterns)).toEqual({ affirmed, denied })
  })

  test('[SM-52] is plain words, whatever signs it has', () => {
    expect(claimsOf('It is (ok)+ now', ['(ok)+']).affirmed).toBe(1)
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string({ minLength: 1 })), (text, words) => {
        const { affirmed, denied } = claimsOf(text, words)
        expect(affirmed + denied).toBeGreaterThanOrEqual(0)
      }),
    )
  })
})
