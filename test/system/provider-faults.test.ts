import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { ModelProtocol } from '../../src/contract/config/model-settings.ts'
import { AppError } from '../../src/contract/errors.ts'
import type { WireEvent } from '../../src/contract/routes.ts'
import { type DaemonProcess, startDaemonProcess } from '../support/daemon-process.ts'
import { call, script } from '../support/own-agents.ts'
import { expectOneEndEach, isAtRest, runEndsOf, told } from '../support/run-record.ts'
import { agentFile, runtimeHome } from '../support/runtime-daemon.ts'
import { eventually } from '../support/session-daemon.ts'
import { slowdown } from '../support/slowdown.ts'
import { watchedModel } from '../support/watched-model.ts'

const timeoutSec = 2
const maxAttempts = 2
const folders = { anthropic: '/v1', openai: '/v1', google: '/v1beta', compatible: '/v1' }
const paths = {
  anthropic: /\/v1\/messages$/,
  openai: /\/v1\/responses$/,
  google: /\/v1beta\/models\/scripted-1:streamGenerateContent\?alt=sse$/,
  compatible: /\/v1\/chat\/completions$/,
}

/** One daemon and one server for all: what a fault leaves behind, the next test meets. */
let machine: Machine
type Machine = {
  readonly daemon: DaemonProcess
  readonly model: Awaited<ReturnType<typeof watchedModel>>
  readonly project: string
  readonly close: () => Promise<void>
}

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mpf-'))
  const model = await watchedModel()
  const providers = ModelProtocol.options.map(
    (name) =>
      `    lab-${name}: { protocol: ${name}, base_url: "${model.url}${folders[name]}", models: [scripted-1] }\n`,
  )
  const { home, project, settings } = runtimeHome({
    folder,
    config: `models:
  timeout_seconds: ${timeoutSec}
  retry: { max_attempts: ${maxAttempts}, first_ms: 20, longest_ms: 1500 }
  providers:
${providers.join('')}`,
    agents: Object.fromEntries(
      ModelProtocol.options.map((name) => [
        `speaks-${name}`,
        agentFile('main', `model: lab-${name}/scripted-1\n`),
      ]),
    ),
  })
  const daemon = await startDaemonProcess(home, { env: settings })
  machine = {
    daemon,
    model,
    project,
    async close() {
      await daemon.kill('SIGKILL')
      await model.close()
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
    },
  }
})
afterAll(() => machine.close())

/** The index knows a session a moment after it was begun. */
const eventsOf = (client: Client, session: string) =>
  client.listEvents({ session, after: 0, limit: 1000 }).then(
    ({ events }) => events,
    (error: unknown) => {
      if (error instanceof AppError && error.code === 'not_found') return []
      throw error
    },
  )

/** Has the agent of a protocol do this to its end; answers what the journal and the server say of it. */
async function played(protocol: ModelProtocol, ...steps: readonly object[]) {
  const { daemon, model, project } = machine
  const before = model.requests().length
  // A script that fails so many times does so once for all who say the same.
  const message = `${protocol}: ${script(...steps, { text: `${protocol} is done.` })}`
  const { session_id } = await daemon.client.chat({
    project_root: project,
    agent_id: `speaks-${protocol}`,
    message,
  })
  const events = await eventually(() => eventsOf(daemon.client, session_id), isAtRest)
  const requests = model.requests().slice(before)
  expectOneEndEach(events)
  expect(runEndsOf(events)).toHaveLength(1)
  for (const started of told(events, 'llm.request.started'))
    expect(started).toMatchObject({ provider: `lab-${protocol}`, model: 'scripted-1' })
  expect(requests).toHaveLength(told(events, 'llm.request.started').length)
  for (const { path } of requests) expect(path).toMatch(paths[protocol])
  await eventually(
    async () => ({ open: model.open(), connections: model.connections() }),
    // Connections are kept for the next request. One agent speaks at a time: more than two would be a leak.
    ({ open, connections }) => open.length === 0 && connections <= 2,
    5000 * slowdown(),
  )
  return { events, requests, end: runEndsOf(events)[0] as WireEvent, types: events.map(({ type }) => type) }
}

const attempts = (types: readonly string[]) =>
  types.filter((type) => type.startsWith('llm.') || type === 'retry.scheduled')

/** The daemon goes on to answer, with the same provider too. */
async function expectItGoesOn(protocol: ModelProtocol) {
  expect(await machine.daemon.client.health({})).toMatchObject({ journal: 'ok' })
  const { end } = await played(protocol, { text: 'still here', tools: [] })
  expect(end).toMatchObject({ type: 'agent.completed', payload: { output: { text: 'still here' } } })
}

const [started, failed, completed, retried] = [
  'llm.request.started',
  'llm.request.failed',
  'llm.request.completed',
  'retry.scheduled',
]

describe.each(ModelProtocol.options)('%s', (protocol) => {
  test('[MUS-251] an answer is streamed, and its tokens are recorded as they were told', async () => {
    const text = 'Some words, that come one after the other and not all at once.'
    const usage = { input: 11, output: 22, cacheRead: 33, cacheWrite: 0, reasoning: 0 }
    const { types, events, end } = await played(protocol, { text, usage, chunkMs: 5 })
    expect(attempts(types)).toEqual([started, completed])
    expect(end).toMatchObject({ type: 'agent.completed', payload: { output: { text } } })
    expect(told(events, completed)).toMatchObject([{ usage: { input: 11, output: 22, cacheRead: 33 } }])
  })

  test('[MUS-251] calls that come together are all run, each once', async () => {
    const read = { name: 'Read', input: { file_path: 'a.txt' } }
    const { types, events, end } = await played(protocol, {
      tools: [read, { name: 'Glob', input: { pattern: '*.txt' } }, read],
    })
    expect(attempts(types)).toEqual([started, completed, started, completed])
    expect(end.type).toBe('agent.completed')
    const calls = told(events, 'tool.call.completed')
    expect(calls.map(({ tool }) => tool)).toEqual(['Read', 'Glob', 'Read'])
    expect(new Set(calls.map(({ callId }) => callId)).size).toBe(3)
  })

  test('[MUS-252] 429, 529 and 500 are each told by their kind and tried again, after the wait that was asked for', async () => {
    const tools = [{ name: 'Read', input: { file_path: 'a.txt' } }]
    const { types, events, end } = await played(
      protocol,
      { status: 429, retryAfterSec: 1, times: 1, tools },
      { status: 529, times: 1, tools },
      { status: 500, times: 1, text: 'Better now.' },
    )
    const once = [started, failed, retried, started, completed]
    expect(attempts(types)).toEqual([...once, ...once, ...once])
    expect(told(events, failed)).toMatchObject([
      { kind: 'rate_limited', status: 429, retryAfterMs: 1000 },
      { kind: 'overloaded', status: 529 },
      { kind: 'server', status: 500 },
    ])
    const waits = told(events, retried)
    expect(waits).toMatchObject(waits.map(() => ({ attempt: 2, maxAttempts })))
    expect(waits[0]).toMatchObject({ delayMs: 1000 })
    expect(end).toMatchObject({ type: 'agent.completed', payload: { output: { text: 'Better now.' } } })
  })

  test('[MUS-252] a stream that is cut in the middle of its words is tried again, and nothing of it is used', async () => {
    const text =
      'words that do not all arrive the first time, because the connection ends among them; '.repeat(4)
    const { types, events, requests, end } = await played(protocol, { text, cut: true, times: 1 })
    expect(attempts(types)).toEqual([started, failed, retried, started, completed])
    expect(['cut', 'network']).toContain(told(events, failed)[0]?.['kind'])
    expect(requests.map(({ isWhole }) => isWhole)).toEqual([false, true])
    expect(end).toMatchObject({ type: 'agent.completed', payload: { output: { text } } })
    await expectItGoesOn(protocol)
  })

  test('[MUS-252] a call whose input is no JSON runs nothing, and the agent can make it again', async () => {
    const { types, events, end } = await played(
      protocol,
      {
        tools: [{ name: 'Write', input: { file_path: `${protocol}.txt`, content: 'x' }, broken: true }],
        times: 1,
      },
      call('Read', { file_path: 'a.txt' }),
    )
    // Gemini sends calls that were read already: what could not be read is a failure of the turn there.
    if (protocol === 'google') {
      expect(attempts(types).slice(0, 4)).toEqual([started, failed, retried, started])
      expect(told(events, failed)).toMatchObject([{ kind: 'server' }])
      expect(told(events, 'tool.call.started').map(({ tool }) => tool)).toEqual(['Write', 'Read'])
    } else {
      expect(types).not.toContain(failed)
      expect(told(events, 'tool.call.failed')).toMatchObject([
        { tool: 'Write', error: expect.stringContaining('not JSON') },
      ])
      expect(told(events, 'tool.call.completed').map(({ tool }) => tool)).toEqual(['Read'])
      expect(types).not.toContain('patch.created')
    }
    expect(end.type).toBe('agent.completed')
    await expectItGoesOn(protocol)
  })

  test('[MUS-252, MUS-12] silence ends each request after the time that was set, and the run once when all tries are used up', async () => {
    const { types, events, requests, end } = await played(protocol, { hang: true })
    expect(attempts(types)).toEqual([started, failed, retried, started, failed])
    for (const failure of told(events, failed)) {
      expect(failure).toMatchObject({ kind: 'timeout' })
      expect(failure['durationMs']).toBeGreaterThanOrEqual(timeoutSec * 1000 - 50)
      expect(failure['durationMs']).toBeLessThan(timeoutSec * 1000 + 2000 * slowdown())
    }
    expect(requests.map(({ isWhole }) => isWhole)).toEqual([false, false])
    expect(end).toMatchObject({
      type: 'agent.failed',
      payload: { error: expect.stringContaining('silent for 2 s') },
    })
    await expectItGoesOn(protocol)
  })
})

test('[MUS-12, MUS-252] when all is over nothing of all this was ended a second time', async () => {
  const all: WireEvent[] = []
  for (let isMore = true; isMore; ) {
    const page = await machine.daemon.client.listEvents({ after: all.at(-1)?.seq ?? 0, limit: 1000 })
    all.push(...page.events)
    isMore = page.events.length > 0
  }
  expect(runEndsOf(all).length).toBeGreaterThanOrEqual(6 * ModelProtocol.options.length)
  expectOneEndEach(all)
  expect(machine.model.open()).toEqual([])
})
