import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ModelsConfig } from '../../contract/config/model-settings.ts'
import type { ModelRequest } from '../../ports/model.ts'
import { systemClock } from '../system/clock.ts'
import { type ModelsSource, openModels } from './open-models.ts'

const secret = 'sk-test-0123456789abcdef'
const never = new AbortController().signal
const hello = (text: string): ModelRequest => ({
  messages: [{ role: 'user', text }],
  // Without a tool the scripted model takes a request for a title or the like.
  tools: [{ name: 'Read', description: 'reads', schema: { type: 'object' } }],
})

function models(
  config: { timeout_seconds?: number; providers?: object },
  more: Partial<Omit<ModelsSource, 'config'>> = {},
) {
  const opened = openModels({
    config: ModelsConfig.parse({ ...config, providers: { ...nowhere, ...config.providers } }),
    env: {},
    clock: systemClock,
    ...more,
  })
  onTestFinished(() => opened.close())
  const status = async (name: string) => (await opened.list(never)).find(({ provider }) => provider === name)
  return { ...opened, status }
}

/** A port that was free a moment ago; no test may depend on what runs on this machine. */
const nowhere = Object.fromEntries(
  ['ollama', 'lmstudio', 'llamacpp'].map((name) => [name, { base_url: 'http://127.0.0.1:9/v1' }]),
)

type Request = { readonly url: string; readonly authorization: string | undefined }

/** An OpenAI-compatible endpoint on loopback that answers as the test says. */
async function endpoint(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const got: Request[] = []
  const server = createServer((request, response) => {
    got.push({ url: request.url ?? '', authorization: request.headers.authorization })
    request.resume().on('end', () => answer(request, response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { got, origin, base_url: `${origin}/v1` }
}

const json = (response: ServerResponse, value: unknown, status = 200) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))

/** A folder with a program of that name, to be found on the PATH. */
function onPath(program: string, script: string): { PATH: string } {
  const folder = mkdtempSync(join(tmpdir(), 'muster-keyring-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, program), `#!/bin/sh\n${script}\n`)
  chmodSync(join(folder, program), 0o755)
  return { PATH: `${folder}:/usr/bin:/bin` }
}

describe('which can be used', () => {
  test('[MUS-255] without keys only the scripted model is ready, and each other says what to set', async () => {
    const list = await models({}).list(never)
    expect(Object.fromEntries(list.map(({ provider, usable, why }) => [provider, [usable, why]]))).toEqual({
      anthropic: [false, 'no key: set ANTHROPIC_API_KEY or models.providers.anthropic.keyring'],
      openai: [false, 'no key: set OPENAI_API_KEY or models.providers.openai.keyring'],
      google: [false, 'no key: set GEMINI_API_KEY or models.providers.google.keyring'],
      ollama: [false, 'nothing listens at http://127.0.0.1:9'],
      lmstudio: [false, 'nothing listens at http://127.0.0.1:9'],
      llamacpp: [false, 'nothing listens at http://127.0.0.1:9'],
      scripted: [true, expect.stringMatching(/^ready/)],
    })
  })

  test('[MUS-256] a key in the environment makes a provider ready and is told nowhere', async () => {
    const env = { ANTHROPIC_API_KEY: secret, OPENAI_API_KEY: '  ' }
    const { list, status } = models({}, { env })
    expect(await status('anthropic')).toMatchObject({
      usable: true,
      why: 'ready: key from ANTHROPIC_API_KEY',
    })
    expect(await status('openai')).toMatchObject({ usable: false })
    expect(JSON.stringify(await list(never))).not.toContain(secret)
  })

  test('[MUS-256] a compatible endpoint is asked for its models, with its key', async () => {
    const there = await endpoint((_, response) =>
      json(response, { data: [{ id: 'qwen3' }, { id: 'b', x: 1 }] }),
    )
    const providers = { mine: { protocol: 'compatible', base_url: there.base_url, key_env: 'MINE' } }
    expect(await models({ providers }, { env: { MINE: secret } }).status('mine')).toEqual({
      provider: 'mine',
      protocol: 'compatible',
      models: ['qwen3', 'b'],
      usable: true,
      why: 'ready: key from MINE',
    })
    expect(there.got).toEqual([{ url: '/v1/models', authorization: `Bearer ${secret}` }])
  })

  test.each([
    ['another key', (r: ServerResponse) => json(r, {}, 401), 'refuses the key (HTTP 401)'],
    ['an error', (r: ServerResponse) => json(r, {}, 500), 'answers HTTP 500'],
    ['a page', (r: ServerResponse) => r.end('<html>'), 'is base_url right?'],
    ['no models', (r: ServerResponse) => json(r, { data: [] }), 'it has no models'],
  ])('[MUS-255] an endpoint that answers with %s cannot be used', async (_, answer, why) => {
    const { base_url } = await endpoint((_request, response) => answer(response))
    const status = await models({ providers: { ollama: { base_url } } }).status('ollama')
    expect(status).toMatchObject({ usable: false, why: expect.stringContaining(why) })
  })

  test('[MUS-255] a silent endpoint does not hold the list up', async () => {
    const asked = Promise.withResolvers<void>()
    const { origin, base_url } = await endpoint(() => asked.resolve())
    const clock = { ...systemClock, sleep: () => asked.promise }
    const { status } = models({ providers: { ollama: { base_url } } }, { clock })
    expect(await status('ollama')).toMatchObject({ usable: false, why: `no answer from ${origin} in 2 s` })
  })

  test('[MUS-255] an endpoint without a list is usable with the models that are named', async () => {
    const { base_url } = await endpoint((_, response) => json(response, {}, 404))
    const providers = { mine: { protocol: 'compatible', base_url, models: ['m'] } }
    expect(await models({ providers }).status('mine')).toMatchObject({ usable: true, models: ['m'] })
  })
})

describe('keys in the keyring', () => {
  const keyring = (place = 'muster/anthropic') => ({ providers: { anthropic: { keyring: place } } })

  test.each([
    ['linux', 'secret-tool', 'lookup service muster account team/anthropic'],
    ['darwin', 'security', 'find-generic-password -s muster -a team/anthropic -w'],
  ] as const)(
    '[MUS-256] on %s %s is asked, and only when the variable is not set',
    async (platform, program, args) => {
      const env = onPath(program, `[ "$*" = "${args}" ] && echo ${secret}`)
      const { list, status } = models(keyring('muster/team/anthropic'), { env, platform })
      expect(await status('anthropic')).toMatchObject({ usable: true, why: 'ready: key from the keyring' })
      expect(JSON.stringify(await list(never))).not.toContain(secret)
      const both = models(keyring(), { env: { ...env, ANTHROPIC_API_KEY: 'other' }, platform })
      expect(await both.status('anthropic')).toMatchObject({ why: 'ready: key from ANTHROPIC_API_KEY' })
    },
  )

  test('[MUS-256] a keyring without the entry, or without its program, is named; what it printed is not', async () => {
    const env = onPath('secret-tool', `echo ${secret}; echo ${secret} >&2; exit 1`)
    const none = await models(keyring(), { env, platform: 'linux' }).status('anthropic')
    expect(none?.why).toBe(
      'no key: ANTHROPIC_API_KEY is not set, and the keyring (muster/anthropic): it has no such entry',
    )
    const missing = await models(keyring(), { env: { PATH: '/nowhere' }, platform: 'linux' }).status(
      'anthropic',
    )
    expect(missing?.why).toContain('secret-tool is not installed')
  })

  test('[MUS-256] a locked keyring is not waited for, and what asked it is ended', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'muster-locked-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const pidFile = join(folder, 'pid')
    const env = onPath('secret-tool', `echo $$ > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; exec sleep 60`)
    const isAsked = async () => {
      while (!existsSync(pidFile)) await systemClock.sleep(5, never)
    }
    const { status } = models(keyring(), {
      env,
      platform: 'linux',
      clock: { ...systemClock, sleep: isAsked },
    })
    expect((await status('anthropic'))?.why).toContain('it did not answer in 5 s; is it locked?')
    const pid = Number(readFileSync(pidFile, 'utf8'))
    while (isAlive(pid)) await systemClock.sleep(5, never)
  })
})

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('speaking to one', () => {
  test('[MUS-251, MUS-256] a compatible endpoint gets the key of its own provider and no other', async () => {
    const there = await endpoint((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const piece = { id: 'r1', choices: [{ index: 0, delta: { content: 'Hi.' }, finish_reason: 'stop' }] }
      response.end(`data: ${JSON.stringify(piece)}\n\ndata: [DONE]\n\n`)
    })
    const providers = {
      mine: { protocol: 'compatible', base_url: there.base_url, key_env: 'MINE' },
      open: { protocol: 'compatible', base_url: there.base_url },
    }
    const { open } = models({ providers }, { env: { MINE: secret, OPENAI_API_KEY: 'sk-another-key' } })
    const mine = await open({ provider: 'mine', id: 'm' })
    const { parts } = await mine.turn(hello('Hello'), { signal: never })
    expect(parts).toMatchObject([{ kind: 'text', text: 'Hi.' }])
    await (await open({ provider: 'open', id: 'm' })).turn(hello('Hello'), { signal: never })
    expect(there.got.map(({ authorization }) => authorization)).toEqual([`Bearer ${secret}`, undefined])
  })

  test.each(['anthropic', 'openai', 'google', 'compatible'])(
    '[MUS-256] a failure of a %s endpoint that repeats the key shows none of it',
    async (protocol) => {
      const { base_url } = await endpoint(({ headers, url }, response) => {
        const message = `bad key: ${JSON.stringify(headers)} ${url}`
        json(response, { type: 'error', error: { message, type: 'x', code: 1, status: 'X' } }, 401)
      })
      const providers = { mine: { protocol, base_url, key_env: 'MINE' } }
      const { open } = models({ providers }, { env: { MINE: secret } })
      const model = await open({ provider: 'mine', id: 'm' })
      const failure = await model.turn(hello('Hello'), { signal: never }).catch((error: unknown) => error)
      expect(failure).toMatchObject({ kind: 'login', status: 401, message: expect.stringContaining('[key]') })
      expect(inspect(failure, { depth: 20, showHidden: true })).not.toContain(secret)
    },
  )

  test('[MUS-252] models.timeout_seconds is the longest silence', async () => {
    const asked = Promise.withResolvers<void>()
    const { base_url } = await endpoint(() => asked.resolve())
    const slept: number[] = []
    let now = 0
    const sleep = async (ms: number) => {
      slept.push(ms)
      await asked.promise
      now += ms
    }
    const config = { timeout_seconds: 7, providers: { ollama: { base_url } } }
    const { open } = models(config, { clock: { ...systemClock, monotonic: () => now, sleep } })
    const model = await open({ provider: 'ollama', id: 'm' })
    await expect(model.turn(hello('Hello'), { signal: never })).rejects.toMatchObject({
      kind: 'timeout',
      message: 'the model was silent for 7 s',
    })
    expect(slept).toEqual([7000])
  })

  test('[MUS-255] a provider without its key, and one that is none, are refused with what to do', async () => {
    const { open } = models({})
    await expect(open({ provider: 'openai', id: 'gpt-6-sol' })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('set OPENAI_API_KEY'),
    })
    await expect(open({ provider: 'acme', id: 'x' })).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('models.providers'),
    })
  })

  test('[MUS-255] the scripted model is there without a key, over HTTP, and gone when the models are closed', async () => {
    const opened = models({})
    const [one, two] = await Promise.all(
      ['scripted', 'other'].map((id) => opened.open({ provider: 'scripted', id })),
    )
    const script = 'SCRIPT: [{"text": "Played."}]'
    const turn = await one?.turn(hello(script), { signal: never })
    expect(turn?.parts).toMatchObject([{ kind: 'text', text: 'Played.' }])
    expect(two).toMatchObject({ provider: 'scripted', id: 'other' })
    await opened.close()
    await expect(one?.turn(hello(script), { signal: never })).rejects.toMatchObject({ kind: 'network' })
    await expect(opened.open({ provider: 'scripted', id: 'x' })).rejects.toThrow('the models are closed')
  })
})
