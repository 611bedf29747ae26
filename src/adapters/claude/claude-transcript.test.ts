import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { claudeLines, claudeNames, claudeVersions } from '../../../test/support/claude-golden.ts'
import type { Signal, SignalOf } from '../../contract/signal.ts'
import { transcriptSignals } from './claude-transcript.ts'

function read(lines: readonly string[], agent?: string): readonly Signal[] {
  const memory = {}
  return lines.flatMap((line) => {
    // What is remembered is plain data: it survives being written down.
    const kept = JSON.parse(JSON.stringify(memory)) as typeof memory
    Object.assign(memory, kept)
    return transcriptSignals(line, { memory, ...(agent !== undefined && { agent }) })
  })
}
const of = <K extends Signal['kind']>(signals: readonly Signal[], kind: K) =>
  signals.filter((signal): signal is SignalOf<K> => signal.kind === kind)

/** The sum by the rule of the ledger: the last report of a response counts. */
function ledger(signals: readonly Signal[]) {
  const last = new Map(of(signals, 'usage').map((signal) => [signal.responseId, signal.usage]))
  const sum = { responses: last.size, input: 0, output: 0 }
  for (const { input = 0, output = 0 } of last.values()) {
    sum.input += input
    sum.output += output
  }
  return sum
}

describe.each(claudeVersions)('transcripts of %s', (version) => {
  const conversation = (name: string, agent?: string) => read(claudeLines(name, version), agent)

  test('[SM-86] a conversation with a permission, a question, an interrupt and a queued prompt', () => {
    const told = conversation('asks').flatMap((signal): string[] => {
      if (signal.kind === 'prompt') return [`${signal.origin}: ${signal.text?.slice(0, 2)}`]
      if (signal.kind === 'tool-start') return [`> ${signal.tool}`]
      if (signal.kind === 'tool-end') return [`< ${signal.tool} ${signal.ok}`]
      if (signal.kind === 'prompt-queued') return [`queued: ${signal.text}`]
      return signal.kind === 'usage' || signal.kind === 'text' ? [] : [signal.kind]
    })
    expect(told).toEqual([
      'person: A ',
      '> Bash',
      '< Bash true',
      'person: B ',
      '> AskUserQuestion',
      '< AskUserQuestion true',
      'person: C ',
      'queued: queued message',
      'interrupted',
      'person: qu',
    ])
  })

  test('[SM-86] times are those of the lines', () => {
    for (const line of claudeLines('asks', version))
      for (const { at, source } of read([line]))
        expect({ at, source }).toEqual({
          at: Date.parse((JSON.parse(line) as { timestamp: string }).timestamp),
          source: 'transcript',
        })
  })

  test('[MUS-180] repeated usage counts once, and what no model was asked for not at all', () => {
    const lines = claudeLines('asks', version)
    const own = lines.map(
      (line) => JSON.parse(line) as { message?: { id?: string; model?: string; usage?: object } },
    )
    const ids = new Set(
      own.flatMap(({ message }) => (message?.usage && message.model !== '<synthetic>' ? [message.id] : [])),
    )
    const sum = ledger(read(lines))
    expect(sum.responses).toBe(ids.size)
    expect(ledger(read([...lines, ...lines]))).toEqual(sum)
    // What the CLI's own total said at its end.
    if (version === '2.1.325') expect(sum).toEqual({ responses: 6, input: 15_283 + 3258, output: 169 + 1 })
  })

  test('[MUS-180] the last line of a response is what it cost', () => {
    const line = (output: number, stop: string | null) =>
      JSON.stringify({
        type: 'assistant',
        timestamp: '2026-11-15T19:00:00.000Z',
        message: {
          id: 'm',
          model: 'claude-x',
          stop_reason: stop,
          usage: { input_tokens: 5, output_tokens: output },
        },
      })
    const usage = of(
      read([line(1, null), line(1, null), line(40, 'end_turn'), line(40, 'end_turn')]),
      'usage',
    )
    expect(usage.map(({ usage: { output }, finishReason }) => [output, finishReason])).toEqual([
      [1, undefined],
      [40, 'end_turn'],
    ])
  })

  test('[SM-86] subagents begin and end, each tied to the call that started it', () => {
    const signals = conversation('subagents')
    const starts = of(signals, 'subagent-start')
    const calls = of(signals, 'tool-start').filter(({ tool }) => tool === 'Agent')
    expect(starts.map(({ agentType, callId }) => [agentType, callId])).toEqual(
      calls.map(({ callId, input }) => [(input as { subagent_type: string }).subagent_type, callId]),
    )
    const ends = of(signals, 'subagent-end')
    expect(ends.map(({ agentId }) => agentId)).toEqual(starts.map(({ agentId }) => agentId))
    for (const { agentId, text, at } of ends) {
      expect(text).toContain('SUBRESULT: from-subagent')
      expect(at).toBeGreaterThan(
        starts.find((start) => start.agentId === agentId)?.at ?? Number.POSITIVE_INFINITY,
      )
    }
  })

  test('[SM-86] what ended in the background is a note, not a prompt of a person', () => {
    const prompts = of(conversation('subagents'), 'prompt')
    expect(
      prompts
        .filter(({ origin }) => origin === 'task')
        .every(({ text }) => text?.startsWith('<task-notification>')),
    ).toBe(true)
    expect(prompts.filter(({ origin }) => origin === 'person').map(({ text }) => text?.[0])).toEqual([
      'A',
      'B',
      'C',
      'D',
      'E',
    ])
    expect(of(conversation('subagents'), 'prompt-queued')).toEqual([])
  })

  test('[SM-86] every signal of a subagent’s file is about that subagent', () => {
    const files = claudeNames('transcripts', version).filter((name) => name.startsWith('agent-'))
    expect(files).toHaveLength(2)
    for (const name of files) {
      const agent = name.replace('agent-', '')
      for (const told of [conversation(name, agent), conversation(name)]) {
        const own = told.filter(({ kind }) => kind !== 'subagent-start')
        expect(new Set(own.map((signal) => signal.agent))).toEqual(new Set([agent]))
        expect(of(told, 'prompt').map(({ origin }) => origin)).toEqual(['task'])
        expect(ledger(told).responses).toBe(2)
      }
    }
  })

  test('[SM-86] interrupts, also before any output and in a permission dialog', () => {
    const { length } = of(conversation('interrupts'), 'interrupted')
    expect(length).toBe(version === '2.1.325' ? 2 : 1)
    expect(of(conversation('failures'), 'interrupted').length).toBeGreaterThan(0)
    expect(of(conversation('interrupts'), 'prompt').some(({ text }) => text?.includes('interrupted'))).toBe(
      false,
    )
  })

  test('[MUS-345] a compaction that there is nothing for is over', () => {
    const refused = (content: string) =>
      read([
        JSON.stringify({
          type: 'system',
          subtype: 'local_command',
          content,
          timestamp: '2026-11-19T06:36:32.181Z',
        }),
      ]).map(({ kind }) => kind)
    expect(refused('<local-command-stdout>Not enough messages to compact.</local-command-stdout>')).toEqual([
      'idle',
    ])
    expect(refused('<local-command-stdout>Total cost: $0.01</local-command-stdout>')).toEqual([])
  })

  test('[SM-86] failed tools, failed turns and a compaction', () => {
    const signals = conversation('failures')
    expect(of(signals, 'tool-end').map(({ tool, ok, error }) => [tool, ok, error?.slice(0, 11)])).toEqual([
      ['Read', false, 'File does n'],
      ['Bash', false, 'Exit code 3'],
    ])
    expect(of(signals, 'compacted')).toEqual([
      expect.objectContaining({ trigger: 'manual', before: expect.any(Number), after: expect.any(Number) }),
    ])
    expect(
      of(signals, 'prompt').some(({ text }) => text?.includes('summary') || text?.includes('/compact')),
    ).toBe(false)
    expect(of(conversation('subagents'), 'turn-failed')).toContainEqual(
      expect.objectContaining({ error: 'API Error: 400 scripted bad request', status: 400 }),
    )
  })

  test('[MUS-134] a used-up allowance has the time that the CLI told', () => {
    const failed = of(conversation('limits'), 'turn-failed')
    expect(failed.length).toBeGreaterThan(0)
    for (const { status, limit, at } of failed) {
      expect(status).toBe(429)
      expect(limit?.resetsAtMs).toBeGreaterThan(at)
      expect(limit?.resetsAtMs).toBeLessThan(at + 3 * 3_600_000)
    }
  })

  test('[SM-86] a shell line and a command of the project begin a turn; a local command does not', () => {
    expect(of(conversation('commands'), 'prompt').map(({ text }) => text)).toEqual([
      '!echo bang',
      '/foo arg1',
    ])
    expect(of(conversation('cleared'), 'prompt').map(({ text }) => text?.slice(0, 8))).toEqual(['G SCRIPT'])
  })

  test('[SM-94] a prompt that waits in the queue of the CLI is told when it is taken into it', () => {
    expect(of(conversation('queued'), 'prompt-queued').map(({ text }) => text)).toEqual([
      'queued one',
      'queued two\nwith a second line',
    ])
  })
})

const timestamp = '2026-11-15T19:00:00.000Z'

test('[MUS-244] what a hook brought into a turn is told from the line that shows it', () => {
  const timestamp = '2026-01-27T15:10:00.000Z'
  const lines = [
    {
      type: 'attachment',
      timestamp,
      attachment: {
        type: 'hook_additional_context',
        content: ['use the other key', 7],
        hookEvent: 'PostToolUse',
      },
    },
    {
      type: 'user',
      isMeta: true,
      timestamp,
      message: { role: 'user', content: 'Stop hook feedback:\nand\nstop then' },
    },
    { type: 'attachment', timestamp, attachment: { type: 'hook_success', content: '' } },
  ].map((line) => JSON.stringify(line))
  expect(of(read(lines), 'injected').map(({ text }) => text)).toEqual(['use the other key', 'and\nstop then'])
  expect(read(lines)).toHaveLength(2)
})

test('[SM-86] an interrupt is known by what it interrupted, whatever words stand beside', () => {
  const line = { type: 'user', timestamp, interruptedMessageId: 'm', message: { content: 'Stopped.' } }
  expect(read([JSON.stringify(line)])).toEqual([
    { kind: 'interrupted', source: 'transcript', at: Date.parse(timestamp) },
  ])
})

test('[MUS-134] the exact time of a limit is taken before the one in words', () => {
  const failed = (more: object) => {
    const content = [{ type: 'text', text: "You've hit your limit · resets 1:33am (UTC)" }]
    const line = {
      type: 'assistant',
      timestamp,
      isApiErrorMessage: true,
      error: 'rate_limit',
      message: { content },
    }
    return of(read([JSON.stringify({ ...line, ...more })]), 'turn-failed')[0]?.limit?.resetsAtMs
  }
  expect(failed({})).toBe(Date.parse('2026-11-16T01:33:00Z'))
  expect(failed({ apiErrorParams: { rate_limit_info: { resetsAt: 1_794_792_805 } } })).toBe(1_794_792_805_000)
  expect(failed({ quotaLimits: { resetsAt: 1_794_792_806 } })).toBe(1_794_792_806_000)
})

test('[MUS-250] the record of a subagent begins with it, as its description says, also after a first line that is none', () => {
  const subagent = { agentType: 'Explore', description: 'look', callId: 't1', isBackground: true }
  const memory = {}
  const line = JSON.stringify({ type: 'user', timestamp, message: { content: 'Find it' } })
  const told = ['{', line, line].map((text) => transcriptSignals(text, { agent: 'a1', subagent, memory }))
  expect(told.map((signals) => of(signals, 'subagent-start').length)).toEqual([0, 1, 0])
  expect(told[1]?.[0]).toEqual({
    kind: 'subagent-start',
    source: 'transcript',
    at: Date.parse(timestamp),
    agentId: 'a1',
    ...subagent,
  })
  expect(of(read([line]), 'subagent-start')).toEqual([])
})

test('[SM-86] the note that a running turn takes from the queue ends its subagent too', () => {
  const launched = {
    type: 'user',
    timestamp,
    toolUseResult: { status: 'async_launched', agentId: 'a1', agentType: 'Explore' },
    message: { content: [{ type: 'tool_result', tool_use_id: 't1', content: 'ok' }] },
  }
  const note = '<task-notification><task-id>a1</task-id><result>a </result> b</result></task-notification>'
  const attachment = {
    type: 'attachment',
    timestamp,
    attachment: { type: 'queued_command', prompt: note },
  }
  const signals = read([JSON.stringify(launched), JSON.stringify(attachment)])
  expect(of(signals, 'subagent-end')).toEqual([
    expect.objectContaining({ agentId: 'a1', agentType: 'Explore', text: 'a </result> b' }),
  ])
  expect(of(read([JSON.stringify(attachment)]), 'subagent-end')).toEqual([])
})

test('[MUS-14] unknown lines tell nothing, and no line can throw', () => {
  for (const line of ['', '{', 'null', '[]', '{"type":"cost-state","totalCostUSD":1}', '{"type":"user"}'])
    expect(read([line])).toEqual([])
  const entry = fc.record(
    {
      type: fc.constantFrom('user', 'assistant', 'system', 'queue-operation', 'attachment', 'x'),
      timestamp: fc.constantFrom('2026-11-15T19:00:00.000Z', 'soon'),
      message: fc.oneof(
        fc.jsonValue(),
        fc.record({
          id: fc.jsonValue(),
          model: fc.jsonValue(),
          usage: fc.jsonValue(),
          content: fc.jsonValue(),
        }),
      ),
      toolUseResult: fc.jsonValue(),
      attachment: fc.jsonValue(),
      content: fc.jsonValue(),
      compactMetadata: fc.jsonValue(),
      isApiErrorMessage: fc.boolean(),
    },
    { requiredKeys: ['type', 'timestamp'] },
  )
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 5 }), fc.string(), (entries, junk) => {
      const signals = read([...entries.map((one) => JSON.stringify(one)), junk])
      for (const { at } of signals) expect(Number.isFinite(at)).toBe(true)
    }),
  )
})

test('[MUS-327] the line with the totals of a conversation, which has no time, is told at the time of the line before', () => {
  const used = { inputTokens: 10, outputTokens: 2, cacheReadInputTokens: 3, cacheCreationInputTokens: 4 }
  const totals = { type: 'cost-state', sessionId: 'abc', totalCostUSD: 1, modelUsage: { m: used, odd: 1 } }
  const before = { type: 'mode', timestamp: '2026-11-18T14:30:39.655Z' }
  expect(read([JSON.stringify(totals)])).toEqual([])
  expect(read([before, totals].map((line) => JSON.stringify(line)))).toEqual([
    {
      source: 'transcript',
      at: Date.parse(before.timestamp),
      kind: 'totals',
      foreignId: 'abc',
      models: { m: { input: 10, output: 2, cacheRead: 3, cacheWrite: 4 } },
    },
  ])
})
