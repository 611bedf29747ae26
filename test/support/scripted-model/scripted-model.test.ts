import { request } from 'node:http'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import type {
  ScriptedModel,
  ScriptedModelOptions,
} from '../../../src/adapters/models/scripted/scripted-model.ts'
import { type ManualClock, manualClock } from '../../http/manual-clock.ts'
import { startScriptedModel } from './scripted-model.ts'

const servers: ScriptedModel[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

async function start(options: ScriptedModelOptions = {}): Promise<ScriptedModel> {
  const server = await startScriptedModel({ seed: 'test', ...options })
  servers.push(server)
  return server
}

const usage = { input: 11, output: 22, cacheRead: 33, cacheWrite: 44, reasoning: 5 }
const step = { text: 'hello there', tools: [{ name: 'Bash', input: { command: 'ls' } }], usage }
const scripted = (...steps: object[]) => `SCRIPT:${JSON.stringify(steps)}`

/** A request of each protocol for one prompt. */
const requests = {
  anthropic: (text: string, stream: boolean) => ({
    path: '/v1/messages?beta=true',
    body: { model: 'c', stream, tools: [{ name: 'Bash' }], messages: [{ role: 'user', content: text }] },
  }),
  responses: (text: string, stream: boolean) => ({
    path: '/v1/responses',
    body: { model: 'c', stream, tools: [{ type: 'function', name: 'Bash' }], input: text },
  }),
  chat: (text: string, stream: boolean) => ({
    path: '/v1/chat/completions',
    body: {
      model: 'c',
      stream,
      tools: [{ type: 'function', function: { name: 'Bash' } }],
      messages: [{ role: 'user', content: text }],
    },
  }),
  gemini: (text: string, stream: boolean) => ({
    path: `/v1beta/models/c:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: {
      tools: [{ functionDeclarations: [{ name: 'Bash' }] }],
      contents: [{ role: 'user', parts: [{ text }] }],
    },
  }),
}
const protocols = Object.keys(requests) as (keyof typeof requests)[]

function post(server: ScriptedModel, path: string, body: object): Promise<Response> {
  const headers = {
    'content-type': 'application/json',
    authorization: 'Bearer secret-key',
    'x-claude-code-session-id': 'ses-1',
  }
  return fetch(`${server.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
}

function ask(
  server: ScriptedModel,
  text: string,
  { protocol = 'anthropic' as keyof typeof requests, stream = false } = {},
) {
  const { path, body } = requests[protocol](text, stream)
  return post(server, path, body)
}

describe.each(protocols)('%s', (protocol) => {
  test('[MUS-229] answers a step in one body, and records what it sent', async () => {
    const server = await start()
    const response = await ask(server, scripted(step), { protocol })
    expect(response.headers.get('content-type')).toContain('application/json')
    const body = JSON.stringify(await response.json())
    expect(body).toContain('hello there')
    const [recorded, ...others] = server.requests()
    expect(others).toEqual([])
    expect(recorded).toMatchObject({
      n: 1,
      method: 'POST',
      protocol,
      model: 'c',
      isStream: false,
      answered: 'step',
      script: expect.stringMatching(/^[0-9a-f]{16}$/),
      step: 0,
      status: 200,
      tools: ['Bash'],
      isSent: true,
      headers: { 'x-claude-code-session-id': 'ses-1' },
    })
    const sent = protocol === 'gemini' ? { ...usage, input: 55, cacheWrite: 0 } : usage
    expect(recorded?.usage).toEqual(sent)
    expect(body).toContain(`"${recorded?.responseId}"`)
  })

  test('[MUS-229] answers the same step as a stream of events', async () => {
    const server = await start()
    const response = await ask(server, scripted(step), { protocol, stream: true })
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    const text = await response.text()
    const frames = text.trim().split('\n\n')
    expect(frames.every((frame) => /^(?:event: [\w.]+\n)?data: (?:\{.*\}|\[DONE\])$/.test(frame))).toBe(true)
    expect(text).toContain('hello there')
    expect(server.requests()).toMatchObject([{ isStream: true, isSent: true, step: 0 }])
  })

  test('tells a failure in its own shape, with when to try again', async () => {
    const server = await start()
    const failing = scripted({ status: 429, retryAfterSec: 7 })
    const response = await ask(server, failing, { protocol, stream: true })
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7'])
    expect(await response.json()).toMatchObject({ error: { message: 'a scripted failure' } })
    expect(server.requests()).toMatchObject([{ answered: 'failure', status: 429, step: 0 }])
  })

  test('refuses a script with a fault, and a body that is no object', async () => {
    const server = await start()
    const broken = await ask(server, 'SCRIPT:[{"txet":"a"}]', { protocol })
    expect([broken.status, await broken.text()]).toEqual([400, expect.stringContaining('step 1')])
    const { path } = requests[protocol]('', false)
    const junk = await fetch(`${server.url}${path}`, { method: 'POST', body: '[1' })
    expect([junk.status, await junk.text()]).toEqual([400, expect.stringContaining('not a JSON object')])
    expect(server.requests().map(({ answered }) => answered)).toEqual(['broken', 'refused'])
  })
})

test('[MUS-228] conversations that come in any order, each at its own step, share one server', async () => {
  const server = await start()
  const names = Array.from({ length: 8 }, (_, i) => `part ${i}`)
  const history = names.map((name): object[] => [
    { role: 'user', content: scripted(...[0, 1, 2].map((at) => ({ text: `${name} step ${at}` }))) },
  ])
  const told: string[][] = names.map(() => [])
  // Each has taken as many steps before the others begin as its number says.
  for (let round = 0; round < 3 + names.length; round++)
    await Promise.all(
      names.map(async (_, i) => {
        if (round < i || (told[i] ?? []).length === 3) return
        const body = { model: 'c', tools: [{ name: 'Bash' }], messages: history[i] }
        const { content } = (await (await post(server, '/v1/messages', body)).json()) as {
          content: [{ text: string }]
        }
        told[i]?.push(content[0].text)
        history[i]?.push({ role: 'assistant', content }, { role: 'user', content: 'go on' })
      }),
    )
  expect(told).toEqual(names.map((name) => [0, 1, 2].map((at) => `${name} step ${at}`)))
})

test('Gemini streams are an array for clients that do not ask for events', async () => {
  const server = await start()
  const { body } = requests.gemini(scripted({ text: 'x'.repeat(30) }), true)
  const chunks = await (await post(server, '/v1beta/models/c:streamGenerateContent', body)).json()
  expect(chunks).toHaveLength(3)
})

test('a failure passes after as many times as it says', async () => {
  const server = await start()
  const prompt = scripted({ status: 529, times: 2, text: 'through' })
  const statuses = []
  for (let i = 0; i < 4; i++) statuses.push((await ask(server, prompt)).status)
  expect(statuses).toEqual([529, 529, 200, 200])
})

test('scenarios are played by name, and checked at the start', async () => {
  const server = await start({ scenarios: { demo: [{ text: 'from the demo' }] } })
  expect(await (await ask(server, 'SCRIPT=demo')).text()).toContain('from the demo')
  expect(server.requests()).toMatchObject([{ script: 'demo', step: 0 }])
  await expect(start({ scenarios: { bad: [] } })).rejects.toMatchObject({ code: 'invalid' })
  await expect(start({ scenarios: { 'no name': [{ text: 'x' }] } })).rejects.toMatchObject({
    code: 'invalid',
  })
})

test('ids are unique for each response, and the same for the same seed', async () => {
  const ids = async (seed: string) => {
    const server = await start({ seed })
    for (let i = 0; i < 3; i++) await ask(server, scripted({ text: 'a' }))
    return server.requests().map(({ responseId }) => responseId)
  }
  const [one, again, other] = [await ids('a'), await ids('a'), await ids('b')]
  expect(new Set(one).size).toBe(3)
  expect(again).toEqual(one)
  expect(new Set([...one, ...other]).size).toBe(6)
})

test('side requests and prompts without a script get an answer and take no step', async () => {
  const server = await start()
  const { path, body } = requests.anthropic(scripted(step), false)
  expect(await (await post(server, path, { ...body, tools: [] })).text()).toContain('"text":"ok"')
  expect(await (await ask(server, 'hello')).text()).toContain('No model was called')
  expect(server.requests()).toMatchObject([{ answered: 'side' }, { answered: 'unscripted' }])
  expect(server.requests().every((one) => one.step === undefined)).toBe(true)
})

describe('time', () => {
  const sleeps = (clock: ManualClock) => expect.poll(() => clock.sleepers()).toBe(1)

  test('an answer waits as long as its step says', async () => {
    const clock = manualClock()
    const server = await start({ clock })
    const response = ask(server, scripted({ text: 'late', delayMs: 5000 }))
    await sleeps(clock)
    expect(server.requests()).toMatchObject([{ answered: 'step', isSent: false }])
    clock.advance(4999)
    expect(clock.sleepers()).toBe(1)
    clock.advance(1)
    expect(await (await response).text()).toContain('late')
  })

  test('a slow stream waits after each piece of the answer', async () => {
    const clock = manualClock()
    const server = await start({ clock })
    const response = await ask(server, scripted({ text: 'x'.repeat(72), chunkMs: 100 }), { stream: true })
    for (let piece = 0; piece < 3; piece++) {
      await sleeps(clock)
      clock.advance(100)
    }
    expect(await response.text()).toContain('message_stop')
    expect(server.requests()).toMatchObject([{ isSent: true }])
  })

  test('a client that goes away ends the wait, and the answer counts as not sent', async () => {
    const clock = manualClock()
    const server = await start({ clock })
    const leaving = new AbortController()
    const { path, body } = requests.chat(scripted({ text: 'late', delayMs: 5000 }), false)
    const init = { method: 'POST', body: JSON.stringify(body), signal: leaving.signal }
    const response = fetch(`${server.url}${path}`, init)
    await sleeps(clock)
    leaving.abort()
    await expect(response).rejects.toThrow()
    await expect.poll(() => clock.sleepers()).toBe(0)
    expect(server.requests()).toMatchObject([{ answered: 'step', isSent: false }])
  })

  test('a hanging step never answers; closing the server cuts it', async () => {
    const server = await start()
    const response = ask(server, scripted({ hang: true })).catch((error: unknown) => error)
    await expect.poll(() => server.requests()).toMatchObject([{ answered: 'hang', isSent: false }])
    await server.close()
    expect(await response).toBeInstanceOf(Error)
    await expect(fetch(server.url)).rejects.toThrow()
  })
})

describe('beside the model', () => {
  test.each([
    ['POST', '/v1/messages/count_tokens', { input_tokens: 3 }, 'count'],
    ['POST', '/v1beta/models/c:countTokens', { totalTokens: 3 }, 'count'],
    ['GET', '/v1/models', { object: 'list', data: expect.arrayContaining([]) }, 'models'],
    ['GET', '/v1/models/any-name', { id: 'any-name' }, 'models'],
    ['GET', '/v1beta/models', { models: expect.arrayContaining([]) }, 'models'],
    ['GET', '/v1beta/models/g', { name: 'models/g' }, 'models'],
    ['GET', '/api/hello', { message: 'hello' }, 'hello'],
    ['GET', '/', { message: 'hello' }, 'hello'],
  ])('%s %s is answered', async (method, path, body, answered) => {
    const server = await start()
    const init = method === 'POST' ? { method, body: '{"a": 1234}' } : { method }
    expect(await (await fetch(`${server.url}${path}`, init)).json()).toMatchObject(body)
    expect(server.requests()).toMatchObject([{ method, path, answered, status: 200 }])
  })

  test('HEAD says hello, and other places are not found', async () => {
    const server = await start()
    expect((await fetch(`${server.url}/`, { method: 'HEAD' })).status).toBe(200)
    expect((await fetch(`${server.url}/v1/elsewhere`)).status).toBe(404)
    expect((await fetch(`${server.url}/v1/models`, { method: 'DELETE' })).status).toBe(404)
    expect(server.requests().map(({ answered }) => answered)).toEqual(['hello', 'unknown', 'unknown'])
  })

  test('compressed bodies are read', async () => {
    const server = await start()
    const { path, body } = requests.anthropic(scripted({ text: 'unpacked' }), false)
    const packed = { gzip: gzipSync, zstd: zstdCompressSync }
    for (const [encoding, pack] of Object.entries(packed)) {
      const headers = { 'content-encoding': encoding }
      const sent = { method: 'POST', headers, body: new Uint8Array(pack(JSON.stringify(body))) }
      expect(await (await fetch(`${server.url}${path}`, sent)).text()).toContain('unpacked')
    }
    const unknown = { method: 'POST', headers: { 'content-encoding': 'lzma' }, body: 'x' }
    expect((await fetch(`${server.url}${path}`, unknown)).status).toBe(415)
    const wrong = { method: 'POST', headers: { 'content-encoding': 'gzip' }, body: 'x' }
    expect((await fetch(`${server.url}${path}`, wrong)).status).toBe(400)
  })
})

describe('what is recorded', () => {
  test('is there over HTTP too, and looking at it is not recorded', async () => {
    const server = await start()
    await ask(server, scripted(step))
    expect(await (await fetch(`${server.url}/__requests`)).json()).toEqual(server.requests())
    expect(server.requests()).toHaveLength(1)
  })

  test('[MUS-230] has no keys in it', async () => {
    const server = await start()
    const { body } = requests.gemini(scripted(step), false)
    await post(server, '/v1beta/models/c:generateContent?key=secret-key', body)
    expect(server.requests()).toHaveLength(1)
    expect(JSON.stringify(server.requests())).not.toContain('secret-key')
  })

  test('is the last so many', async () => {
    const server = await start({ maxRequests: 2 })
    for (let i = 0; i < 3; i++) await fetch(server.url)
    expect(server.requests().map(({ n }) => n)).toEqual([2, 3])
  })

  test('cannot be changed by who reads it', async () => {
    const server = await start()
    await fetch(server.url)
    const [first] = server.requests()
    if (first) first.answered = 'side'
    expect(server.requests()).toMatchObject([{ answered: 'hello' }])
  })
})

describe('who can reach it', () => {
  test('[MUS-230] a request by another name is refused', async () => {
    const server = await start()
    const status = (host: string, path = '/__requests') =>
      new Promise<number | undefined>((resolve, reject) => {
        const sent = request({ port: server.port, path, headers: { host } }, (response) => {
          response.resume()
          resolve(response.statusCode)
        })
        sent.once('error', reject).end()
      })
    expect(await status('evil.example')).toBe(421)
    expect(await status('127.0.0.1.evil.example:80')).toBe(421)
    expect(await status(`localhost:${server.port}`)).toBe(200)
    expect(await status('[::1]:80')).toBe(200)
    expect(await status('localhost', '//')).toBe(400)
    expect(await status('localhost', '/v1/models/%')).toBe(200)
  })

  test('[MUS-230] only this machine: another host is refused at the start', async () => {
    const host = '0.0.0.0' as '127.0.0.1'
    await expect(startScriptedModel({ host })).rejects.toMatchObject({ code: 'denied' })
  })

  test('a port that is taken is told as such', async () => {
    const { port } = await start()
    await expect(startScriptedModel({ port })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(String(port)),
    })
  })
})
