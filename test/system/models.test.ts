import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { emptyEnvironment, runProgram, temporaryFolder } from '../cli/run-sm.ts'
import { startDaemonProcess } from '../support/daemon-process.ts'
import { smProgram } from '../support/programs.ts'

const secret = 'sk-test-0123456789abcdef'

/** `sm` of a person with these settings and keys; the daemon is stopped when the test ends. */
function person(config: string, keys: Record<string, string> = {}) {
  const env = emptyEnvironment({ NODE_NO_WARNINGS: '1', ...keys })
  const home = env['HOME'] as string
  env['MUSTER_CONFIG'] = join(home, 'config.yaml')
  writeFileSync(env['MUSTER_CONFIG'], config)
  const sm = (...args: string[]) => runProgram(process.execPath, [smProgram, ...args], { env })
  onTestFinished(async () => {
    await sm('down')
  })
  return { sm, state: env['MUSTER_HOME'] as string }
}

/** An endpoint that lists one model, on a port of this test's. */
async function endpoint(): Promise<string> {
  const server = createServer((_, response) => response.end('{"data":[{"id":"qwen3"}]}'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

test('[MUS-255, MUS-256] sm models shows who can be used, what the others lack and which is the default; no key is in it, in the log or on disk', async () => {
  const base_url = await endpoint()
  const { sm, state } = person(
    `models:
  default: anthropic/claude-opus-5-5
  fallback: [local/qwen3, google/gemini-pro-latest]
  providers:
    local: { protocol: compatible, base_url: "${base_url}", key_env: LOCAL }
    ollama: { base_url: "http://127.0.0.1:9/v1" }
`,
    { LOCAL: secret, ANTHROPIC_API_KEY: `${secret}-2` },
  )
  const { stdout, stderr, code } = await sm('models')
  expect({ stderr, code }).toMatchObject({ code: 0 })
  expect(stdout).toMatch(/^anthropic +anthropic +yes +claude-sonnet/m)
  expect(stdout).toMatch(/^local +compatible +yes +qwen3$/m)
  expect(stdout).toMatch(/^Default {2}anthropic\/claude-opus-5-5\n {2}it is models.default\.\n/m)
  expect(stdout).toContain('Then: local/qwen3.')
  expect(stdout).toContain('no key: set GEMINI_API_KEY or models.providers.google.keyring')
  expect(stdout).toContain('nothing listens at http://127.0.0.1:9')
  const json = await sm('models', '--json')
  expect(JSON.parse(json.stdout)).toMatchObject({
    default: { model: 'anthropic/claude-opus-5-5', passed_over: [{ model: 'google/gemini-pro-latest' }] },
    fallback: ['local/qwen3'],
    aliases: { sonnet: 'anthropic/claude-sonnet-5-5' },
  })
  const files = readdirSync(state, { recursive: true, withFileTypes: true }).filter((file) => file.isFile())
  expect(files.length).toBeGreaterThan(3)
  const written = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'))
  expect([stdout, stderr, json.stdout, ...written].join('')).not.toContain(secret)
})

test('[MUS-255] a default that cannot be used is shown as none, with what it lacks', async () => {
  const { sm } = person('models: { default: openai/gpt-6-sol }\n')
  const { stdout, code } = await sm('models', '--json')
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    default: {
      model: null,
      why: expect.stringContaining('models.default'),
      passed_over: [{ model: 'openai/gpt-6-sol', why: expect.stringContaining('OPENAI_API_KEY') }],
    },
  })
})

test('[RUN-1, RUN-2] the agents that can be run come from files alone, and a new file is a new one', async () => {
  const home = temporaryFolder()
  const daemon = await startDaemonProcess(home)
  onTestFinished(() => void daemon.kill('SIGTERM'))
  const list = async () => (await daemon.client.listAgentTypes({})).map(({ agent_id }) => agent_id)
  const before = await list()
  expect(before).toContain('general-purpose')
  const folder = join(home, '.config/muster/agents')
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, 'migrator.md'),
    `---
description: Writes migrations
kind: subagent
model: opus
tools: [Read, Write]
policy: [Patch]
work_globs: [migrations/**]
---

You write migrations.
`,
  )
  expect(await list()).toEqual([...before, 'migrator'].toSorted())
  expect(await daemon.client.listAgentTypes({})).toContainEqual({
    agent_id: 'migrator',
    agent_kind: 'subagent',
    aliases: [],
    description: 'Writes migrations',
    model: 'opus',
    tools: ['Read', 'Write'],
    policy: { allow: ['Patch'], delegate_targets: 'any' },
    work_globs: ['migrations/**'],
    source: 'user',
    file: join(folder, 'migrator.md'),
  })
})
