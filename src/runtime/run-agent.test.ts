import { afterEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { definition } from '../../test/support/own-agents.ts'
import { startScriptedModel } from '../../test/support/scripted-model/scripted-model.ts'
import { ids } from '../../test/support/temp-engine.ts'
import type { ScriptedModel } from '../adapters/models/scripted/scripted-model.ts'
import { sdkModel } from '../adapters/models/sdk/sdk-model.ts'
import { systemClock } from '../adapters/system/clock.ts'
import type { Draft } from '../contract/event.ts'
import type { LoopMode } from '../contract/values.ts'
import { type Model, ModelFailure, type ModelRequest, type ModelTurn, type SaidPart } from '../ports/model.ts'
import type { Tool } from '../ports/tools.ts'
import type { AgentRun } from './agent-run.ts'
import { Recorder } from './recorder.ts'
import { runAgent } from './run-agent.ts'

let server: ScriptedModel | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

const ran: string[] = []
const echo = (name: string, changes: readonly string[] = []): Tool => ({
  name,
  description: 'says what it was given',
  category: 'perception',
  input: z.strictObject({ text: z.string() }),
  changes: async () => changes,
  run: async (input) => {
    const { text } = input as { text: string }
    ran.push(`${name} ${text}`)
    if (text === 'crash') throw new Error('crashed')
    return { text: `${name} says ${text}`, isError: text === 'bad' }
  },
})

const agent = definition('lead', {
  tools: ['Read', 'Write', 'Task'],
  policy: { allow: ['Delegate'], delegateTargets: ['plan'] },
})
const search = { ...agent, name: 'search', kind: 'subagent' } as const

async function play(
  steps: readonly object[],
  more: Partial<Omit<AgentRun, 'mode'>> & {
    mode?: LoopMode
    late?: string[][]
    compactAt?: number
    resultChars?: number
  } = {},
) {
  ran.length = 0
  server = await startScriptedModel({ seed: 'test' })
  const recorded: Draft[] = []
  const recorder = new Recorder({
    perform: async (drafts) => void recorded.push(...drafts),
    onFailure: () => {},
    clock: systemClock,
  })
  const said: string[] = []
  const used: ModelTurn['usage'][] = []
  const late = [...(more.late ?? [])]
  const model = sdkModel({
    provider: 'scripted',
    protocol: 'anthropic',
    id: 'scripted-1',
    baseUrl: `${server.url}/v1`,
    apiKey: 'x',
    timeoutMs: 5000,
    clock: systemClock,
  })
  const run: AgentRun = {
    root: {
      sessionId: ids.session(),
      traceId: ids.trace(),
      runId: ids.run(),
      spanId: ids.span(),
      actor: 'lead',
    },
    agent,
    mode: 'auto',
    depth: 0,
    scopes: [],
    models: [model],
    maxIters: 10,
    workspace: '/w',
    tools: new Map(
      [echo('Read'), echo('Write', ['a.ts']), echo('Bash'), echo('Task')].map((t) => [t.name, t]),
    ),
    agents: new Map([['search', search]]),
    messages: [{ role: 'user', text: `SCRIPT:${JSON.stringify(steps)}` }],
    seen: new Map(),
    seenBefore: [],
    signal: new AbortController().signal,
    ...more,
  }
  const end = await runAgent(
    {
      clock: systemClock,
      newSpan: () => ids.span(),
      record: recorder.record,
      durable: recorder.durable,
      keep: async () => 'kept',
      onTurn: () => {},
      onUsed: ({ turn }) => void used.push(turn.usage),
      resultChars: more.resultChars ?? 30_000,
      onChanges: () => {},
      spent: async () => undefined,
      refusal: async () => undefined,
      compactAt: () => more.compactAt ?? Number.POSITIVE_INFINITY,
      chance: () => 0,
      prices: { estimate: () => undefined },
      retry: { maxAttempts: 1, firstMs: 1, longestMs: 1 },
      takeMessages: async () => late.shift() ?? [],
      onPiece: (piece) => void (piece.kind === 'text' && said.push(piece.delta)),
      onStatus: () => {},
      output: () => ({ push() {}, end() {} }),
    },
    run,
  ).catch((error: unknown) => error)
  await recorder.durable()
  return {
    end,
    run,
    recorded,
    said,
    used,
    types: recorded.map(({ type }) => type).filter((t) => t.startsWith('tool')),
  }
}

const read = (text: string) => ({ name: 'Read', input: { text } })

describe('the loop', () => {
  test('[RUN-10] on its own it runs every call of a turn, and its words at the end are the answer', async () => {
    const { end, types, said } = await play([
      { text: 'I look.', tools: [read('one'), read('two')] },
      { text: 'It is: ${lastToolResult}' },
    ])
    expect(end).toEqual({ status: 'completed', text: 'It is: Read says two' })
    expect(ran).toEqual(['Read one', 'Read two'])
    expect(types).toEqual([
      'tool.call.started',
      'tool.call.completed',
      'tool.call.started',
      'tool.call.completed',
    ])
    expect(said.join('')).toContain('I look.')
  })

  test('[RUN-8] in chat the first call of a turn runs, and the others are answered', async () => {
    const { end, run } = await play([{ tools: [read('one'), read('two')] }, { text: 'Done.' }], {
      mode: 'chat',
    })
    expect(end).toMatchObject({ status: 'completed' })
    expect(ran).toEqual(['Read one'])
    const told = run.messages.find((message) => message.role === 'tool')
    expect(told).toMatchObject({
      answers: [{ isError: false }, { isError: true, text: expect.stringContaining('One tool per turn') }],
    })
  })

  test.each(['chat', 'auto'] as const)(
    '[RUN-12] %s: an empty answer is told once; the second one in a row is giving up',
    async (mode) => {
      const { end, run } = await play([{ text: '' }, { text: ' \n' }, { text: 'too late' }], { mode })
      expect(end).toEqual({ status: 'failed', reason: expect.stringContaining('empty answer') })
      const told = run.messages.filter(({ role }) => role === 'user')
      expect(told).toHaveLength(2)
      expect(told[1]).toMatchObject({ text: expect.stringContaining('empty') })
      await server?.close()
      const { end: good } = await play([{ thinking: 'hm' }, { text: 'Here.' }], { mode })
      expect(good).toEqual({ status: 'completed', text: 'Here.' })
    },
  )

  test('[RUN-12] an empty answer long after another one is told again', async () => {
    const { end } = await play([{ text: '' }, { tools: [read('one')] }, { text: '' }, { text: 'Done.' }])
    expect(end).toEqual({ status: 'completed', text: 'Done.' })
  })

  test('[RUN-12] an empty answer while something was said is no giving up', async () => {
    const { end } = await play([{ text: '' }, { text: '' }, { text: 'Done.' }], {
      late: [[], [], [], ['and that'], []],
    })
    expect(end).toEqual({ status: 'completed', text: 'Done.' })
  })

  test('[RUN-9][RUN-11][RUN-12] a run that is not done after max_iters has failed, with the reason', async () => {
    const steps = Array.from({ length: 9 }, (_, i) => ({ tools: [read(`${i}`)] }))
    for (const mode of ['chat', 'auto'] as const) {
      const { end } = await play(steps, { mode, maxIters: 3 })
      expect(end).toEqual({ status: 'failed', reason: expect.stringContaining('3 turns') })
      expect(ran).toHaveLength(3)
      await server?.close()
    }
  })

  test('[RUN-12] a model that repeats itself is told, and then stopped', async () => {
    const steps = Array.from({ length: 30 }, () => ({ text: 'hm', tools: [read('same')] }))
    const { end } = await play(steps, { maxIters: 30 })
    expect(end).toMatchObject({ status: 'failed', reason: expect.stringContaining('repeating') })
  })

  test('[RUN-47] what is said while it works reaches it at the next step, also in the last one', async () => {
    const { end, run } = await play([{ tools: [read('one')] }, { text: 'Done.' }, { text: 'And that.' }], {
      late: [[], ['use tabs'], ['one more thing']],
    })
    expect(end).toEqual({ status: 'completed', text: 'And that.' })
    const users = run.messages.filter((message) => message.role === 'user').map(({ text }) => text)
    expect(users.slice(1)).toEqual(['use tabs', 'one more thing'])
  })
})

describe('what grows too long', () => {
  test('[MUS-264] a result is told with its beginning and its end', async () => {
    const { run } = await play([{ tools: [read('x'.repeat(5000))] }, { text: 'Done.' }], {
      resultChars: 1000,
    })
    const told = run.messages.find((message) => message.role === 'tool')
    const [answer] = told?.role === 'tool' ? told.answers : []
    expect(answer?.text.length).toBeLessThan(1100)
    expect(answer?.text).toContain('4010 characters are left out')
  })

  test('[MUS-265] a conversation is replaced by its summary, with the task word for word, and goes on', async () => {
    const asked: ModelRequest[] = []
    const model: Model = {
      provider: 'test',
      id: 'forgetful',
      async turn(request) {
        asked.push({ ...request, messages: [...request.messages] })
        const said = (parts: SaidPart[], finish: 'stop' | 'calls' = 'stop'): ModelTurn => ({
          responseId: `r${asked.length}`,
          parts,
          usage: { input: 100, output: 1 },
          finish,
        })
        if (request.tools.length === 0) return said([{ kind: 'text', text: 'One was read.' }])
        return asked.length === 1
          ? said([{ kind: 'call', callId: 'c', tool: 'Read', input: { text: 'one' } }], 'calls')
          : said([{ kind: 'text', text: 'Done.' }])
      },
    }
    const { end, recorded, run, used } = await play([], { compactAt: 50, models: [model] })
    // What the summary used counts too.
    expect(used).toEqual(asked.map(() => ({ input: 100, output: 1 })))
    expect(asked).toHaveLength(3)
    expect(end).toEqual({ status: 'completed', text: 'Done.' })
    expect(recorded.find(({ type }) => type === 'context.compacted')?.payload).toMatchObject({
      trigger: 'auto',
      tokensBefore: 101,
      summary: 'One was read.',
      vault: 'kept',
    })
    const last = asked.at(-1)?.messages ?? []
    expect(last).toHaveLength(1)
    expect(last[0]).toMatchObject({ text: expect.stringMatching(/^SCRIPT:\[\][\s\S]*One was read\./) })
    expect(run.messages).toHaveLength(2)
  })

  test('[MUS-265] what a model refuses as too long is made shorter and asked once more', async () => {
    let asked = 0
    const model: Model = {
      provider: 'test',
      id: 'small',
      async turn({ tools }) {
        asked += 1
        if (asked === 1) throw new ModelFailure('context_length', 'too long')
        const text = tools.length === 0 ? 'Short.' : 'Done.'
        return { responseId: `r${asked}`, parts: [{ kind: 'text', text }], usage: {}, finish: 'stop' }
      },
    }
    const { end, recorded } = await play([], { models: [model] })
    expect(end).toEqual({ status: 'completed', text: 'Done.' })
    expect(recorded.find(({ type }) => type === 'context.compacted')?.payload).toMatchObject({
      trigger: 'limit',
    })
  })
})

describe('what a model tries', () => {
  test.each([
    ['[RUN-20] a tool it does not have', { name: 'Bash', input: { text: 'x' } }, 'tool'],
    ['[RUN-23] a change without the policy', { name: 'Write', input: { text: 'x' } }, 'policy'],
    [
      '[RUN-4] a target it may not name',
      { name: 'Task', input: { text: 'x', subagent_type: 'search' } },
      'delegation',
    ],
    [
      '[RUN-4] a target that does not exist',
      { name: 'Task', input: { subagent_type: '../../x' } },
      'delegation',
    ],
  ])('%s is denied, recorded and told', async (_what, call, gate) => {
    const { end, recorded, types } = await play([{ tools: [call] }, { text: 'I see: ${lastToolResult}' }])
    expect(ran).toEqual([])
    expect(types).toEqual(['tool.call.started', 'tool.call.denied'])
    expect(recorded.find(({ type }) => type === 'tool.call.denied')).toMatchObject({ payload: { gate } })
    expect(end).toMatchObject({ status: 'completed', text: expect.stringContaining('Denied') })
  })

  test('[MUS-252] input that cannot be read or does not fit is an answer, and four in a row are the end', async () => {
    const bad = { name: 'Read', input: { text: 'x' }, broken: true }
    const { end, types } = await play([
      { tools: [bad] },
      { tools: [{ name: 'Read', input: { wrong: 1 } }] },
      { tools: [{ name: 'Nothing', input: {} }] },
      { text: 'Sorry.' },
    ])
    expect(end).toMatchObject({ status: 'completed' })
    expect(types.filter((type) => type === 'tool.call.failed')).toHaveLength(2)
    await server?.close()
    const worse = await play(Array.from({ length: 6 }, (_, i) => ({ text: `${i}`, tools: [bad] })))
    expect(worse.end).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('could not be read'),
    })
  })

  test('[RUN-19] what a call changed is recorded also when the run is cancelled as it ends', async () => {
    const off = new AbortController()
    const changing: Tool = {
      ...echo('Read'),
      run: async () => {
        off.abort(new Error('cancelled by user'))
        return { text: 'done', isError: false, changes: [{ path: 'a.ts', change: 'modified' }] }
      },
    }
    const { end, recorded } = await play([{ tools: [read('x')] }], {
      tools: new Map([['Read', changing]]),
      signal: off.signal,
    })
    expect(end).toMatchObject({ message: 'cancelled by user' })
    const ends = recorded.map(({ type }) => type).filter((type) => /^(tool\.call\.[cf]|patch)/.test(type))
    expect(ends).toEqual(['tool.call.completed', 'patch.created'])
  })

  test('[RUN-20] a task cannot widen what the agent may change: every limit holds for what a tool writes', async () => {
    const limits: unknown[] = []
    const looking: Tool = {
      ...echo('Read'),
      run: async (_input, { writable }) => {
        limits.push(writable)
        return { text: '', isError: false }
      },
    }
    const tools = new Map([['Read', looking]])
    await play([{ tools: [read('x')] }, { text: 'Done.' }], {
      tools,
      agent: { ...agent, workGlobs: ['src/**'] },
      scopes: [['**']],
    })
    await server?.close()
    await play([{ tools: [read('x')] }, { text: 'Done.' }], { tools })
    expect(limits).toEqual([[['**'], ['src/**']], []])
  })

  test('[RUN-19] a cancel in the middle of a call ends the call, the request and the run once', async () => {
    const off = new AbortController()
    const waiting: Tool = {
      ...echo('Read'),
      run: (_input, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error))
          off.abort(new Error('cancelled by user'))
        }),
    }
    const { end, types } = await play([{ tools: [read('x')] }], {
      tools: new Map([['Read', waiting]]),
      signal: off.signal,
    })
    expect(end).toMatchObject({ message: 'cancelled by user' })
    expect(types).toEqual(['tool.call.started', 'tool.call.failed'])
  })
})

test('[MUS-275] a run that was cut off after its last words ends with them: it is asked again only for what was said meanwhile', async () => {
  const script = `SCRIPT:${JSON.stringify([{ text: 'Done.' }, { text: 'Heard.' }])}`
  const before = () => ({
    turns: 1,
    messages: [
      { role: 'user' as const, text: script },
      { role: 'assistant' as const, parts: [{ kind: 'text' as const, text: 'Done.' }] },
    ],
  })
  const over = await play([], before())
  expect(over.end).toEqual({ status: 'completed', text: 'Done.' })
  expect(over.recorded.map(({ type }) => type)).not.toContain('llm.request.started')
  await server?.close()
  const asked = await play([], { ...before(), late: [['And this?']] })
  expect(asked.end).toEqual({ status: 'completed', text: 'Heard.' })
})
