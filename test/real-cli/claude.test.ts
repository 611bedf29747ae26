import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, type TestContext, test } from 'vitest'
import { claudeCli } from '../../src/adapters/claude/claude-cli.ts'
import type { ScriptedModel } from '../../src/adapters/models/scripted/scripted-model.ts'
import type { Decision } from '../../src/contract/decision.ts'
import type { Signal } from '../../src/contract/signal.ts'
import type { LaunchRequest } from '../../src/ports/agent-cli.ts'
import { cliPath, clis, missingCli } from '../support/clis.ts'
import { hermetic } from '../support/hermetic.ts'
import { launchRequest } from '../support/launch-request.ts'
import { pluginDaemon } from '../support/plugin-host.ts'
import { ofKind, signalsOf } from '../support/screen-fixture.ts'
import { startScriptedModel } from '../support/scripted-model/scripted-model.ts'
import { tempFolder } from '../support/temp-journal.ts'
import { never, tempTmux } from '../support/temp-tmux.ts'

const cli = claudeCli({ env: process.env, isRoot: process.getuid?.() === 0 })
const { dialect } = cli
const soon = { timeout: 120_000, interval: 100 }

let model: ScriptedModel
beforeAll(async () => {
  model = await startScriptedModel()
})
afterAll(() => model.close())

const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'test' } })
const question = {
  name: 'AskUserQuestion',
  input: {
    questions: [
      {
        question: 'Which colour?',
        header: 'Colour',
        multiSelect: false,
        options: [
          { label: 'Red', description: 'warm' },
          { label: 'Blue', description: 'cold' },
        ],
      },
    ],
  },
}
const allow: Decision = { verdict: 'allow', scope: 'once' }

describe.each(clis.filter(({ name }) => name === 'claude'))('$name $version', (pin) => {
  test('[SM-86][SM-2] a turn is told by hooks, record, meter and screen', async (context) => {
    const run = await launch(context, pin.version, {
      script: [
        {
          text: 'making',
          tools: [bash('echo made > made.txt')],
          usage: { input: 100, output: 7, cacheRead: 20 },
        },
        { text: 'all done', usage: { input: 120, output: 3 } },
      ],
      decision: allow,
      fields: { role: { text: 'ROLE: be brief.' } },
    })
    await expect.poll(() => ofKind(run.hooks(), 'turn-end').at(-1)?.text, soon).toBe('all done')
    expect(readFileSync(join(run.cwd, 'made.txt'), 'utf8')).toBe('made\n')

    expect(ofKind(run.hooks(), 'ready')).toEqual([
      expect.objectContaining({ reason: 'startup', foreignId: run.foreignId }),
    ])
    expect(ofKind(run.hooks(), 'prompt')).toEqual([expect.objectContaining({ origin: 'person' })])
    expect(ofKind(run.hooks(), 'asking')[0]).toMatchObject({ ask: 'permission', tool: 'Bash' })
    expect(ofKind(run.hooks(), 'tool-end')).toEqual([expect.objectContaining({ ok: true })])
    const overHttp = run.daemon.heard.filter(({ authorization }) => authorization !== undefined)
    expect(new Set(overHttp.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer mst_test']))

    await expect.poll(async () => ofKind(await run.record(), 'text').at(-1)?.text, soon).toBe('all done')
    const record = await run.record()
    const used = new Map(ofKind(record, 'usage').map(({ responseId, usage }) => [responseId, usage]))
    expect([...used.values()]).toEqual([
      expect.objectContaining({ input: 100, output: 7, cacheRead: 20 }),
      expect.objectContaining({ input: 120, output: 3 }),
    ])
    expect(ofKind(record, 'tool-end')).toEqual([expect.objectContaining({ tool: 'Bash', ok: true })])

    await expect.poll(run.screen, soon).toMatchObject({ composer: { state: 'empty' }, isWorking: false })
    await expect.poll(() => ofKind(run.hooks(), 'meter').at(-1)?.costUsd, soon).toBeGreaterThan(0)
    // The user's own status line is still there.
    await expect.poll(run.text, soon).toContain('line of the user')
  })

  test('[MUS-187] while a question is held its dialog shows, and the answer from outside closes it', async (context) => {
    let answer: ((reply: unknown) => void) | undefined
    const run = await launch(context, pin.version, {
      script: [{ tools: [bash('touch held.txt')] }, { text: 'after' }],
    })
    run.daemon.answer = (heard) =>
      heard['hook_event_name'] === 'PermissionRequest' ? new Promise((resolve) => (answer = resolve)) : {}
    await expect
      .poll(run.screen, soon)
      .toMatchObject({ dialog: { kind: 'permission', title: 'Bash command' } })
    await expect.poll(() => answer, soon).toBeDefined()
    answer?.(JSON.parse(dialect.decision(run.asked(), { verdict: 'deny', reason: 'not today' })?.body ?? ''))
    await expect.poll(() => ofKind(run.hooks(), 'turn-end').length, soon).toBe(1)
    expect(existsSync(join(run.cwd, 'held.txt'))).toBe(false)
    await expect
      .poll(async () => ofKind(await run.record(), 'tool-end')[0], soon)
      .toMatchObject({ ok: false, error: 'not today' })
    await expect.poll(run.screen, soon).toMatchObject({ composer: { state: 'empty' } })
  })

  test('[SM-96] a question is answered from outside', async (context) => {
    const run = await launch(context, pin.version, {
      script: [{ tools: [question] }, { text: 'answered: ${lastToolResult}' }],
      decision: { ...allow, answers: { 'Which colour?': 'Blue' } },
    })
    await expect
      .poll(() => ofKind(run.hooks(), 'turn-end').at(-1)?.text, soon)
      .toContain('"Which colour?"="Blue"')
    expect(ofKind(run.hooks(), 'asking')[0]).toMatchObject({
      ask: 'question',
      questions: [{ question: 'Which colour?' }],
    })
  })

  test('[MUS-187] a plan is approved from outside', async (context) => {
    const run = await launch(context, pin.version, {
      script: [{ tools: [{ name: 'ExitPlanMode', input: { plan: 'do it' } }] }, { text: 'going on' }],
      decision: allow,
      fields: { permissionMode: 'plan' },
    })
    await expect.poll(() => ofKind(run.hooks(), 'turn-end').at(-1)?.text, soon).toBe('going on')
    expect(ofKind(run.hooks(), 'asking')[0]).toMatchObject({ ask: 'plan', tool: 'ExitPlanMode' })
  })

  test('[SM-94] a message goes into the turn at its end, and after a tool', async (context) => {
    const run = await launch(context, pin.version, {
      script: [{ tools: [bash('true')] }, { text: 'one' }, { text: 'two' }],
      fields: { permissionMode: 'bypass' },
    })
    const told = new Set<unknown>()
    run.daemon.answer = (heard) => {
      const event = heard['hook_event_name']
      if ((event !== 'Stop' && event !== 'PostToolUse') || told.has(event)) return {}
      told.add(event)
      return JSON.parse(dialect.inject(heard, `a message at ${event}`)?.body ?? '') as object
    }
    await expect
      .poll(() => ofKind(run.hooks(), 'turn-end').map(({ text }) => text), soon)
      .toEqual(['one', 'two'])
    // What is told to the agent stands in the record; what the model was sent is not kept.
    for (const event of ['PostToolUse', 'Stop'])
      await expect.poll(async () => (await run.raw()).includes(`a message at ${event}`), soon).toBe(true)
  })

  test('[MUS-209][MUS-236] a gate lets the role’s tools through, and nothing when no daemon answers', async (context) => {
    const fields = { permissionMode: 'bypass', role: { text: '', tools: ['Bash'] } } as const
    const script = [{ tools: [bash('touch made.txt')], delayMs: 1500 }, { text: 'over' }]
    const open = await launch(context, pin.version, { script, fields })
    await expect.poll(() => ofKind(open.hooks(), 'turn-end').length, soon).toBe(1)
    expect(existsSync(join(open.cwd, 'made.txt'))).toBe(true)

    const closed = await launch(context, pin.version, { script, fields })
    await closed.daemon.stop()
    await expect.poll(async () => ofKind(await closed.record(), 'text').at(-1)?.text, soon).toBe('over')
    expect(existsSync(join(closed.cwd, 'made.txt'))).toBe(false)
    expect(ofKind(await closed.record(), 'tool-end')).toEqual([expect.objectContaining({ ok: false })])
  })
})

type Launch = {
  readonly script: readonly unknown[]
  /** How a permission is answered at once; it is left to its dialog without one. */
  readonly decision?: Decision
  readonly fields?: Partial<LaunchRequest>
}

/** Starts it in a terminal by its adapter's own plan, with a daemon that hears its hooks. */
async function launch(context: TestContext, version: string, { script, decision, fields }: Launch) {
  const command = cliPath('claude', version)
  if (command === undefined) return context.skip(missingCli({ name: 'claude', version }))
  const daemon = await pluginDaemon()
  daemon.answer = (heard) => {
    const reply = decision && dialect.decision(heard, decision)
    return reply ? JSON.parse(reply.body) : {}
  }
  const start = hermetic('claude', { home: tempFolder('mc-'), modelUrl: model.url, permissions: 'ask' })
  const own = join(start.env['CLAUDE_CONFIG_DIR'] ?? '', 'settings.json')
  const line = { type: 'command', command: 'echo line of the user' }
  writeFileSync(
    own,
    JSON.stringify({ ...(JSON.parse(readFileSync(own, 'utf8')) as object), statusLine: line }),
  )
  const request = launchRequest(tempFolder('mf-'), {
    ...fields,
    command,
    version,
    workingDir: start.cwd,
    prompt: `SCRIPT:${JSON.stringify(script)}`,
    hookUrl: daemon.url,
    hookCommand: hookCommand(daemon.url),
    env: start.env,
  })
  const plan = await cli.plan(request, never)
  for (const { path, text, mode } of plan.files) writeFileSync(path, text, { mode })
  const server = tempTmux()
  const terminal = await server.open()
  const size = { width: 160, height: 50 }
  const env = { ...request.env, ...plan.env, MUSTER_TOKEN: 'mst_test' }
  const pane = await terminal.open(
    server.request('agent', plan.argv, { workingDir: start.cwd, env, ...size }),
    never,
  )
  onTestFinished(async () => {
    await terminal.close(pane, never)
    // Until it has ended it writes into the folders that are about to be removed.
    await expect.poll(() => isAlive(pane.pid), soon).toBe(false)
  })
  const capture = () => terminal.capture(pane, never)
  const { foreignId = '' } = plan
  const files = () => cli.transcripts({ workingDir: start.cwd, env: start.env, startedAtMs: 0, foreignId })
  const hooks = (): Signal[] => daemon.heard.flatMap((heard) => dialect.hook(heard, 1))
  return {
    daemon,
    cwd: start.cwd,
    foreignId,
    hooks,
    asked: () => daemon.heard.find((heard) => heard['hook_event_name'] === 'PermissionRequest'),
    screen: async () => dialect.screen(await capture(), version),
    text: async () => (await capture()).lines.join('\n'),
    raw: async () => (await files()).map(({ path }) => readFileSync(path, 'utf8')).join('\n'),
    async record(): Promise<Signal[]> {
      return (await files()).flatMap(({ path, agent }) =>
        signalsOf(new URL(`file://${path}`), dialect.line, agent),
      )
    },
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** A program that does what `sm hook claude` does: it hands the payload on, and fails when nobody answers. */
function hookCommand(url: string): readonly string[] {
  const path = join(tempFolder('mh-'), 'hook.mjs')
  writeFileSync(
    path,
    `let text = ''
for await (const part of process.stdin) text += part
const body = JSON.stringify({ hook_event_name: process.argv[2], ...JSON.parse(text) })
const answer = await fetch(${JSON.stringify(url)}, { method: 'POST', body })
process.stdout.write(await answer.text())
`,
  )
  return [process.execPath, path]
}
