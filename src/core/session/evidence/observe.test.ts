import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anySignals } from '../../../../test/corpus/signal-arbitrary.ts'
import { runs } from '../../../../test/support/size.ts'
import type { Signal } from '../../../contract/signal.ts'
import { noEvidence } from './evidence.ts'
import { observe } from './observe.ts'

const seen = (signals: readonly Signal[]) => signals.reduce(observe, noEvidence)
const prompt = (at: number): Signal => ({ kind: 'prompt', origin: 'person', source: 'hook', at })

describe('evidence', () => {
  test('[MUS-50] [SM-75] is the same in whatever order and however often its signals come', () => {
    fc.assert(
      fc.property(anySignals, fc.infiniteStream(fc.nat()), fc.array(fc.nat()), (signals, keys, again) => {
        const repeated = again.flatMap((n) => signals.slice(n % (signals.length + 1)).slice(0, 1))
        const shuffled = [...signals, ...repeated]
          .map((signal) => ({ signal, key: keys.next().value }))
          .toSorted((a, b) => a.key - b.key)
          .map(({ signal }) => signal)
        expect(seen(shuffled)).toEqual(seen(signals))
      }),
      runs(300),
    )
  })

  test('[MUS-50] is plain data', () => {
    fc.assert(
      fc.property(anySignals, (signals) => {
        const evidence = seen(signals)
        expect(JSON.parse(JSON.stringify(evidence))).toEqual(evidence)
      }),
    )
  })

  test('[MUS-85] stays small, whatever comes', () => {
    const long = 'x'.repeat(100_000)
    const kinds = [
      { kind: 'tool-start', tool: long, input: { command: long } },
      { kind: 'tool-end', tool: long, ok: true },
      { kind: 'asking', ask: 'permission', tool: long, input: long },
      { kind: 'subagent-start', agentType: long },
      { kind: 'text', text: long },
      { kind: 'turn-failed', error: long },
      { kind: 'gone', reason: long },
      { kind: 'meter', limits: Array.from({ length: 500 }, () => ({ name: 'five hours' })) },
      { kind: 'screen', reading: { composer: { state: 'text', text: long }, isWorking: false, error: long } },
    ] as const
    let evidence = noEvidence
    for (let i = 0; i < 900; i++) {
      const signal = { ...kinds[i % kinds.length], callId: `${i}${long}`, agentId: `${i}${long}` }
      evidence = observe(evidence, { ...signal, source: 'hook', at: i } as Signal)
      evidence = observe(evidence, { ...signal, source: 'hook', at: i, agent: `${i}${long}` } as Signal)
    }
    expect(JSON.stringify(evidence).length).toBeLessThan(90_000)
    expect(evidence.calls[0]?.callId.startsWith('89')).toBe(true)
  })

  test('[SM-75] keeps the beginning and the end of a long message', () => {
    const text = `Done.${' filler'.repeat(2000)} The end.`
    const kept = seen([{ kind: 'text', text, source: 'transcript', at: 1 }]).last.text?.text
    expect(kept).toMatch(/^Done\./)
    expect(kept).toMatch(/The end\.$/)
    expect(kept?.length).toBe(4000)
  })

  test('[SM-75] a later arrival of an older signal undoes nothing, and a tie goes to the better source', () => {
    expect(seen([prompt(5), prompt(3)]).last.prompt?.at).toBe(5)
    const tie = seen([
      { kind: 'turn-end', background: 2, source: 'hook', at: 5 },
      { kind: 'turn-end', background: 0, source: 'transcript', at: 5 },
    ])
    expect(tie.last['turn-end']).toMatchObject({ background: 2, source: 'hook' })
  })

  test('[MUS-50] of two that differ in content alone the same one stands, whichever came first', () => {
    const task: Signal = { kind: 'prompt', origin: 'task', source: 'hook', at: 5 }
    expect(seen([prompt(5), task])).toEqual(seen([task, prompt(5)]))
  })

  test('[SM-75] nothing that a subagent does touches the turn of the session', () => {
    const of = (kind: Signal['kind']) =>
      ({ kind, text: 'x', background: 0, error: 'x', agent: 'a', source: 'hook', at: 9 }) as Signal
    const evidence = seen([
      prompt(1),
      of('turn-end'),
      of('turn-failed'),
      of('interrupted'),
      of('text'),
      of('gone'),
    ])
    expect(Object.keys(evidence.last).toSorted()).toEqual(['agent', 'prompt'])
  })

  test('[MUS-50] a time that is none is not taken', () => {
    expect(seen([prompt(Number.NaN), prompt(Number.POSITIVE_INFINITY)])).toEqual(noEvidence)
  })

  test('[MUS-50] input that JSON cannot say is no reason to fail', () => {
    const input: Record<string, unknown> = { big: 1n }
    input['self'] = input
    const evidence = seen([{ kind: 'tool-start', callId: 'c', tool: 'Bash', input, source: 'hook', at: 1 }])
    expect(evidence.calls).toEqual([{ callId: 'c', tool: 'Bash', start: { at: 1, source: 'hook' } }])
  })
})
