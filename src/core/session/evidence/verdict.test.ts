import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anySignals } from '../../../../test/corpus/signal-arbitrary.ts'
import { runs } from '../../../../test/support/size.ts'
import type { Signal } from '../../../contract/signal.ts'
import type { DerivedState } from './conclude.ts'
import { noEvidence } from './evidence.ts'
import { observe } from './observe.ts'
import { judge, type Verdict } from './verdict.ts'

const seen = (signals: readonly Signal[]) => signals.reduce(observe, noEvidence)
const idleAfterMs = 600_000
const minute = 60_000
const stateOf = ({ lifecycle, activity, waitingFor, waitingUntil, health }: Verdict | DerivedState) => ({
  lifecycle,
  activity,
  waitingFor,
  waitingUntil,
  health,
})

const prompt: Signal = { kind: 'prompt', origin: 'person', source: 'hook', at: 1000 }
const working: Signal = {
  kind: 'screen',
  reading: { composer: { state: 'empty' }, isWorking: true },
  source: 'pane',
  at: 2000,
}
const ended: Signal = { kind: 'turn-end', text: 'Done.', background: 0, source: 'hook', at: 9000 }

describe('a verdict', () => {
  test('[MUS-333] stays that of the question when the CLI says once more that it waits, and calls it a permission', () => {
    const asking = { kind: 'asking', source: 'hook' } as const
    const question: Signal = { ...asking, ask: 'question', tool: 'AskUserQuestion', at: 2000 }
    const vague: Signal = { ...asking, ask: 'permission', at: 8000 }
    expect(judge(seen([prompt, question, vague]), { now: 9000, idleAfterMs })).toMatchObject({
      lifecycle: 'waiting_input',
      waitingFor: 'question',
    })
    expect(judge(seen([prompt, vague]), { now: 9000, idleAfterMs }).waitingFor).toBe('permission')
  })

  test('[MUS-345] a compaction that a person asks for is work from its first moment; one within a turn begins nothing', () => {
    const at = 20_000
    const after = (more: readonly Signal[], now: number) =>
      judge(seen([prompt, ended, ...more]), { now, idleAfterMs }).lifecycle
    const begun: Signal = { kind: 'compacting', trigger: 'manual', source: 'hook', at }
    const over: Signal = { kind: 'compacted', trigger: 'manual', source: 'hook', at: at + 8000 }
    expect(after([], at)).toBe('idle')
    expect(after([begun], at)).toBe('running')
    expect(after([begun], at + 7999)).toBe('running')
    expect(after([begun, over], at + 8000)).toBe('idle')
    expect(after([{ ...begun, trigger: 'auto' }], at)).toBe('idle')
    // A record need not say who asked for it; what came after the next prompt is part of that turn.
    const untold: Signal = { kind: 'compacted', source: 'transcript', at: at + 8000 }
    expect(after([begun, untold], at + 8000)).toBe('idle')
    const next: Signal = { ...prompt, at: at + 7000 }
    expect(after([begun, next, untold], at + 8000)).toBe('running')
  })

  test('[MUS-50] is given for whatever was seen, at any time', () => {
    fc.assert(
      fc.property(anySignals, fc.integer({ min: -10, max: 9_000_000 }), (signals, now) => {
        const verdict = judge(seen(signals), { now, idleAfterMs })
        expect(['starting', 'running', 'waiting_input', 'idle', 'failed', 'error']).toContain(
          verdict.lifecycle,
        )
        for (const { weight, ageMs } of verdict.because) {
          expect(weight).toBeGreaterThanOrEqual(0)
          expect(weight).toBeLessThanOrEqual(1)
          expect(ageMs).toBeGreaterThanOrEqual(0)
        }
        expect(verdict.because.map(({ weight }) => weight)).toEqual(
          verdict.because.map(({ weight }) => weight).toSorted((a, b) => b - a),
        )
      }),
      runs(300),
    )
  })

  test('[SM-70] [MUS-18] holds until the time it names, and then becomes what it names', () => {
    fc.assert(
      fc.property(
        anySignals,
        fc.nat(1_000_000),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (signals, wait, part) => {
          const evidence = seen(signals)
          const now = Math.max(0, ...signals.map(({ at }) => at)) + wait
          const verdict = judge(evidence, { now, idleAfterMs })
          const until = verdict.until ?? now + 100_000_000
          expect(until).toBeGreaterThan(now)
          const between = judge(evidence, { now: now + Math.floor((until - now - 1) * part), idleAfterMs })
          expect(stateOf(between)).toEqual(stateOf(verdict))
          if (verdict.becomes)
            expect(stateOf(judge(evidence, { now: until, idleAfterMs }))).toEqual(stateOf(verdict.becomes))
        },
      ),
      runs(300),
    )
  })

  test('[SM-70] only ever loses confidence by itself: rest does not become work, nor doubt health', () => {
    fc.assert(
      fc.property(anySignals, (signals) => {
        const evidence = seen(signals)
        let now = Math.max(0, ...signals.map(({ at }) => at))
        let verdict: Verdict = judge(evidence, { now, idleAfterMs })
        while (verdict.until !== undefined) {
          now = verdict.until
          const next = judge(evidence, { now, idleAfterMs })
          const isRest = ['idle', 'failed', 'error'].includes(verdict.lifecycle)
          if (isRest) expect(['idle', 'failed', 'error']).toContain(next.lifecycle)
          if (verdict.health === 'stale') expect(['ok', 'retrying']).not.toContain(next.health)
          verdict = next
        }
      }),
      runs(300),
    )
  })

  test('[MUS-18] depends on how long ago things were, never on the date', () => {
    fc.assert(
      fc.property(
        anySignals,
        fc.nat(1_000_000),
        fc.integer({ min: -5_000_000, max: 5_000_000 }),
        (signals, now, by) => {
          const told = signals.filter(({ kind }) => kind !== 'turn-failed' && kind !== 'meter')
          const [here, there] = [seen(told), seen(told.map((signal) => ({ ...signal, at: signal.at + by })))]
          const [a, b] = [judge(here, { now, idleAfterMs }), judge(there, { now: now + by, idleAfterMs })]
          expect(stateOf(a)).toEqual(stateOf(b))
          expect(a.because).toEqual(b.because)
        },
      ),
    )
  })

  test('[SM-2] [SM-70] a prompt without any later sign is doubted, then called idle with that doubt', () => {
    const at = (now: number) => judge(seen([prompt]), { now, idleAfterMs })
    expect(at(minute)).toMatchObject({ lifecycle: 'running', health: 'ok', confidence: 'high' })
    expect(at(minute)).toMatchObject({ until: 181_000, becomes: { lifecycle: 'running', health: 'stale' } })
    expect(at(4 * minute)).toMatchObject({ lifecycle: 'running', health: 'stale', confidence: 'low' })
    expect(at(11 * minute)).toMatchObject({ lifecycle: 'idle', health: 'stale' })
    const supported = seen([prompt, { ...working, at: 11 * minute }])
    expect(judge(supported, { now: 11 * minute, idleAfterMs })).toMatchObject({
      lifecycle: 'running',
      health: 'ok',
    })
  })

  test('[SM-70] [MUS-18] silence counts from when the watching resumed, and the state is doubted until seen', () => {
    const options = { now: 3 * 60 * minute, idleAfterMs, resumedAt: 3 * 60 * minute - 5000 }
    expect(judge(seen([prompt]), options)).toMatchObject({ lifecycle: 'running', health: 'stale' })
    const confirmed = seen([prompt, { ...working, at: options.now - 1000 }])
    expect(judge(confirmed, options)).toMatchObject({ lifecycle: 'running', health: 'ok' })
  })

  test('[SM-75] [MUS-15] tells what it rests on, the most weighty first, and how sure it is', () => {
    const verdict = judge(seen([prompt, working]), { now: 3000, idleAfterMs })
    expect(verdict.because.map(({ signal, source, ageMs }) => [signal, source, ageMs])).toEqual([
      ['prompt', 'hook', 2000],
      ['screen-working', 'pane', 1000],
    ])
    const shown = judge(seen([working]), { now: 3000, idleAfterMs })
    expect(shown).toMatchObject({ lifecycle: 'running', activity: 'working', confidence: 'medium' })
  })

  test('[SM-70] knows since when it has been so, not since when it was noticed', () => {
    const idle: Signal = { kind: 'idle', source: 'hook', at: 69_000 }
    expect(judge(seen([prompt, ended, idle]), { now: 80_000, idleAfterMs }).since).toBe(9000)
  })

  test('[SM-69] a limit names its end only when somebody told it', () => {
    const failed = { kind: 'turn-failed', error: 'limit', source: 'hook', at: 5000 } as const
    const at = (limit: { resetsAtMs?: number }, more: readonly Signal[] = []) =>
      judge(seen([prompt, { ...failed, limit }, ...more]), { now: 6000, idleAfterMs })
    expect(at({ resetsAtMs: 90_000 })).toMatchObject({
      lifecycle: 'failed',
      waitingFor: 'limit',
      waitingUntil: 90_000,
      until: 90_000,
      becomes: { lifecycle: 'failed', health: 'ok' },
    })
    expect(at({}).waitingUntil).toBeUndefined()
    const meter: Signal = {
      kind: 'meter',
      limits: [
        { name: 'five hours', usedPercent: 100, resetsAtMs: 70_000 },
        { name: 'week', usedPercent: 40, resetsAtMs: 900_000 },
      ],
      source: 'hook',
      at: 4000,
    }
    expect(at({}, [meter])).toMatchObject({ waitingFor: 'limit', waitingUntil: 70_000 })
  })

  test('[SM-69][MUS-247] a question without a dialog stands until it is answered, whatever the screen shows', () => {
    const ask = { kind: 'asking', ask: 'permission', tool: 'Bash', input: { command: 'ls' } } as const
    const shown = { ...working, at: 20_000 }
    const state = (more: readonly Signal[]) =>
      judge(seen([prompt, ...more, shown]), { now: 21_000, idleAfterMs }).lifecycle
    expect(state([{ ...ask, source: 'hook', at: 3000 }])).toBe('running')
    expect(state([{ ...ask, source: 'hook', at: 3000, isUnseen: true }])).toBe('waiting_input')
    expect(state([{ ...ask, source: 'hook', at: 3000, agent: 'a1' }])).toBe('waiting_input')
    const dialog: Signal = {
      kind: 'screen',
      reading: {
        composer: { state: 'none' },
        isWorking: false,
        dialog: { kind: 'permission', title: 'Proceed?', options: ['Yes'] },
      },
      source: 'pane',
      at: 10_000,
    }
    expect(state([{ ...ask, source: 'hook', at: 3000, isUnseen: true }, dialog])).toBe('running')
    const answered: Signal = { ...ask, kind: 'answered', source: 'explicit', at: 9000 }
    expect(state([{ ...ask, source: 'hook', at: 3000, isUnseen: true }, answered])).toBe('running')
    const calm: Signal = {
      kind: 'screen',
      reading: { composer: { state: 'empty' }, isWorking: false },
      source: 'pane',
      at: 20_500,
    }
    const late: readonly Signal[] = [
      { ...ask, source: 'hook', at: 3000 },
      dialog,
      { ...answered, at: 20_000 },
    ]
    expect(judge(seen([prompt, ...late, calm]), { now: 21_000, idleAfterMs }).lifecycle).toBe('running')
    // The dialog of what was answered stands on the screen a little longer; one that stays is there.
    const stillShown = (at: number) =>
      judge(seen([prompt, ...late, { ...dialog, at }]), { now: at + 500, idleAfterMs }).lifecycle
    expect(stillShown(21_500)).toBe('running')
    expect(stillShown(23_500)).toBe('waiting_input')
    const other: Signal = { ...answered, input: { command: 'pwd' } }
    expect(state([{ ...ask, source: 'hook', at: 3000, isUnseen: true }, other])).toBe('waiting_input')
    const again: Signal = { ...ask, source: 'hook', at: 12_000, isUnseen: true }
    expect(state([{ ...ask, source: 'hook', at: 3000, isUnseen: true }, answered, again])).toBe(
      'waiting_input',
    )
  })
})
