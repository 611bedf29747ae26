import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, type TestContext, test } from 'vitest'
import type { ScriptedModel } from '../../src/adapters/models/scripted/scripted-model.ts'
import { agentClis } from '../../src/contract/agent-clis.ts'
import type { Signal } from '../../src/contract/signal.ts'
import { agentCliAdapters } from '../../src/daemon/agent-cli-adapters.ts'
import type { AgentCli, LaunchRequest } from '../../src/ports/agent-cli.ts'
import { cliPath, clis, missingCli } from '../support/clis.ts'
import { hermetic, shellCall } from '../support/hermetic.ts'
import { launchRequest } from '../support/launch-request.ts'
import { type PluginDaemon, pluginDaemon } from '../support/plugin-host.ts'
import { ofKind, signalsOf } from '../support/screen-fixture.ts'
import { startScriptedModel } from '../support/scripted-model/scripted-model.ts'
import { seedOpenCode } from '../support/seed-opencode.ts'
import { tempFolder } from '../support/temp-journal.ts'
import { never, tempTmux } from '../support/temp-tmux.ts'

const adapters = agentCliAdapters(process.env)
// Claude Code has a file of its own.
const pins = clis.filter(({ name }) => name !== 'claude')
const soon = { timeout: 120_000, interval: 200 }

let model: ScriptedModel
beforeAll(async () => {
  model = await startScriptedModel()
})
afterAll(() => model.close())

describe.each(pins)('$name $version', (pin) => {
  test('[SM-86] a turn with a tool is told by hooks and by the record', async (context) => {
    const run = await launch(pin, context, { role: { text: 'Be brief.' } })
    await expect.poll(() => run.steps(), soon).toBe(2)
    expect(existsSync(join(run.cwd, 'made.txt'))).toBe(true)
    await expect.poll(() => ofKind(run.hooks(), 'turn-end').length, soon).toBeGreaterThan(0)
    await expect.poll(async () => ofKind(await run.record(), 'text').at(-1)?.text, soon).toBe('all done')

    const record = await run.record()
    expect(ofKind(record, 'prompt')[0]?.text).toContain('SCRIPT:')
    // A plugin that got no answer in time sends again: one call may be told twice, under the same id.
    expect(onePerCall(ofKind(record, 'tool-start'))).toEqual([expect.objectContaining({ tool: 'Bash' })])
    expect(onePerCall(ofKind(record, 'tool-end'))).toEqual([expect.objectContaining({ ok: true })])
    expect(new Set(ofKind(record, 'usage').map(({ responseId }) => responseId)).size).toBe(2)

    const hooks = run.hooks().map(({ kind }) => kind)
    for (const kind of ['ready', 'prompt', 'tool-start', 'turn-end'] as const) expect(hooks).toContain(kind)
    await expect
      .poll(async () => run.cli.dialect.screen(await run.screen(), pin.version), soon)
      .toMatchObject({ composer: { state: 'empty' }, isWorking: false })
  })
})

const onePerCall = <T extends { callId: string }>(calls: readonly T[]): T[] => [
  ...new Map(calls.map((call) => [call.callId, call])).values(),
]

/** Starts a CLI in a terminal by its adapter's own plan, with a daemon that hears its hooks. */
async function launch(
  pin: (typeof pins)[number],
  context: TestContext,
  { role }: { role: NonNullable<LaunchRequest['role']> },
) {
  const command = cliPath(pin.name, pin.version)
  if (command === undefined) return context.skip(missingCli(pin))
  const cli = adapters[pin.name]
  const daemon = await pluginDaemon()
  const start = hermetic(pin.name, { home: tempFolder('mra-'), modelUrl: model.url })
  if (pin.name === 'opencode') seedOpenCode(start.env, pin.version)
  const script = [
    { text: 'making', tools: [shellCall(pin.name, 'echo made > made.txt')] },
    { text: 'all done' },
  ]
  const request = launchRequest(tempFolder('mrf-'), {
    permissionMode: 'bypass',
    role,
    command,
    version: pin.version,
    workingDir: start.cwd,
    prompt: `SCRIPT:${JSON.stringify(script)}`,
    hookUrl: daemon.url,
    hookCommand: hookCommand(daemon),
    env: start.env,
    ...(pin.name === 'gemini' && { model: 'gemini-2.5-pro' }),
  })
  const before = model.requests().at(-1)?.n ?? 0
  const pane = await openPane(cli, request)
  const hooks = (): Signal[] => daemon.heard.flatMap((heard) => cli.dialect.hook(heard, 0))
  const startedAtMs = Date.parse('2026-01-01')
  return {
    cli,
    cwd: start.cwd,
    hooks,
    screen: pane.screen,
    steps: () =>
      model.requests().filter(({ n, answered, isSent }) => n > before && answered === 'step' && isSent)
        .length,
    async record(): Promise<Signal[]> {
      if (agentClis[pin.name].record === 'hook') return hooks()
      const ready = ofKind(hooks(), 'ready').find(({ foreignId }) => foreignId !== undefined)
      const where = { workingDir: start.cwd, env: start.env, startedAtMs, foreignId: ready?.foreignId ?? '' }
      const files = await cli.transcripts(where)
      return files.flatMap(({ path, agent }) => signalsOf(new URL(`file://${path}`), cli.dialect.line, agent))
    },
  }
}

async function openPane(cli: AgentCli, request: LaunchRequest) {
  const plan = await cli.plan(request, never)
  for (const { path, text, mode } of plan.files) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text, { mode })
  }
  const server = tempTmux()
  const terminal = await server.open()
  const pane = await terminal.open(
    server.request('agent', plan.argv, {
      workingDir: request.workingDir,
      env: { ...request.env, ...plan.env, MUSTER_TOKEN: 'mst_test' },
      width: 160,
      height: 50,
    }),
    never,
  )
  onTestFinished(() => terminal.close(pane, never))
  return { screen: () => terminal.capture(pane, never) }
}

/** A program that does what `sm hook` does: it hands the payload on, and fails when nobody answers. */
function hookCommand(daemon: PluginDaemon): readonly string[] {
  const path = join(tempFolder('mrh-'), 'hook.mjs')
  writeFileSync(
    path,
    `let text = ''
for await (const part of process.stdin) text += part
const headers = { 'content-type': 'application/json' }
const answer = await fetch(${JSON.stringify(daemon.url)}, { method: 'POST', headers, body: text })
process.stdout.write(await answer.text())
`,
  )
  return [process.execPath, path]
}
