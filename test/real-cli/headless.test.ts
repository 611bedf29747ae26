import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, type TestContext, test } from 'vitest'
import type { ScriptedModel } from '../../src/adapters/models/scripted/scripted-model.ts'
import { codingCliNames } from '../../src/contract/agent-clis.ts'
import { type Cli, cliPath, clis, missingCli } from '../support/clis.ts'
import {
  finalText,
  hermetic,
  type Line,
  none,
  reported,
  sent,
  shellCall,
  tokens,
} from '../support/hermetic.ts'
import { startScriptedModel } from '../support/scripted-model/scripted-model.ts'

let model: ScriptedModel
const homes: string[] = []
const groups = new Set<number>()

beforeAll(async () => {
  model = await startScriptedModel()
})

afterEach(() => {
  for (const group of groups) endGroup(group)
  groups.clear()
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true, maxRetries: 10 })
})

afterAll(() => model.close())

const usage = { input: 11, output: 22, cacheRead: 33, cacheWrite: 44, reasoning: 7 }
const lastUsage = { ...none, input: 5, output: 6 }

describe.each(clis)('$name $version', (cli) => {
  test('runs a scripted tool, goes on after a failure that the script lets pass, and says its last words', async (context) => {
    const script = [
      {
        text: 'writing',
        thinking: `how to write, with ${cli.version}`,
        tools: [shellCall(cli.name, 'echo made-by-a-tool > made.txt; echo told-42')],
        usage,
      },
      {
        status: 429,
        times: 1,
        retryAfterSec: 1,
        text: 'The tool said: ${lastToolResult}.',
        usage: lastUsage,
      },
    ]
    const ran = await run(cli, `Go on. SCRIPT:${JSON.stringify(script)}`, context)

    expect(ran).toMatchObject({ code: 0 })
    expect(readFileSync(join(ran.cwd, 'made.txt'), 'utf8')).toBe('made-by-a-tool\n')
    expect(finalText[cli.name](ran.lines)).toMatch(/^The tool said: [^]*told-42[^]*\.$/)

    const steps = ran.requests.filter(({ answered }) => answered === 'step')
    expect(steps).toMatchObject([
      { step: 0, tools: [script[0]?.tools?.[0]?.name], isStream: true, isSent: true, status: 200 },
      { step: 1, isStream: true, isSent: true, status: 200 },
    ])
    const failed = ran.requests.filter(({ answered }) => answered === 'failure')
    expect(failed).toMatchObject([{ step: 1, status: 429 }])
    expect(steps.map((one) => one.usage)).toEqual([sent(cli.name, usage), lastUsage])
    expect(new Set(steps.map(({ responseId }) => responseId)).size).toBe(2)
    expect(ran.requests.filter(({ answered }) => answered === 'unknown')).toEqual([])
    expect(tokens[cli.name](ran.lines)).toEqual(reported(cli.name, [usage, lastUsage]))
  })

  test('is told that no model was called when the prompt has no script', async (context) => {
    const ran = await run(cli, 'Say something wise.', context)
    expect(finalText[cli.name](ran.lines)).toContain('No model was called.')
    expect(ran.requests.some(({ answered }) => answered === 'unscripted')).toBe(true)
  })
})

describe.each(clis.filter(({ name }) => name === 'claude' || name === 'codex'))('$name $version', (cli) => {
  test('gives a subagent the script in its prompt', async (context) => {
    const inner = [
      { tools: [shellCall(cli.name, 'echo deep > inner.txt; echo deep-7')] },
      { text: 'inner: ${lastToolResult}' },
    ]
    const prompt = `Do it. SCRIPT:${JSON.stringify(inner)}`
    const delegate =
      cli.name === 'codex'
        ? { name: 'spawn_agent', input: { message: prompt } }
        : {
            name: 'Agent',
            input: {
              description: 'inner work',
              subagent_type: 'general-purpose',
              prompt,
              run_in_background: false,
            },
          }
    const wait = shellCall(
      cli.name,
      'for i in $(seq 100); do [ -s inner.txt ] && break; sleep 0.1; done; cat inner.txt',
    )
    // Codex gives its parent one more turn when the child ends after the parent's last words.
    const lastWords = { text: 'outer: ${lastToolResult}' }
    const outer = [{ tools: [delegate] }, { tools: [wait] }, lastWords, lastWords]
    const ran = await run(cli, `SCRIPT:${JSON.stringify(outer)}`, context)

    expect(finalText[cli.name](ran.lines)).toMatch(/^outer: [^]*deep$/)
    const taken = Object.groupBy(
      ran.requests.filter(({ answered }) => answered === 'step'),
      ({ script }) => script ?? '',
    )
    const steps = Object.values(taken).map((list) => list?.map(({ step }) => step))
    expect(steps).toHaveLength(2)
    expect(steps).toContainEqual([0, 1])
    expect(steps.some((list) => list?.slice(0, 3).join() === '0,1,2')).toBe(true)
  })
})

test('every CLI has an absolute path or none', () => {
  expect([...new Set(clis.map(({ name }) => name))]).toEqual(codingCliNames)
  for (const { name, version } of clis) expect(isAbsolute(cliPath(name, version) ?? '/')).toBe(true)
  expect(cliPath('claude', '0.0.0')).toBeUndefined()
  expect(missingCli({ name: 'pi', version: '1.2.3' })).toContain('npm run clis -- pi')
})

type Ran = {
  readonly code: number | null
  readonly cwd: string
  readonly lines: Line[]
  readonly requests: ReturnType<ScriptedModel['requests']>
}

/** Runs a CLI to its end in a home of its own. */
async function run(cli: Cli, prompt: string, context: TestContext): Promise<Ran> {
  const executable = cliPath(cli.name, cli.version)
  if (executable === undefined) return context.skip(missingCli(cli))
  const home = mkdtempSync(join(tmpdir(), 'mrc-'))
  homes.push(home)
  const start = hermetic(cli.name, { home, modelUrl: model.url })
  const before = model.requests().at(-1)?.n ?? 0
  const child = spawn(executable, start.headless(prompt), {
    env: start.env,
    cwd: start.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  if (child.pid !== undefined) groups.add(child.pid)
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const said = stdout.split('\n').filter((line) => line.startsWith('{'))
  if (said.length === 0) throw new Error(`${cli.name} said nothing (exit ${code}): ${stdout}\n${stderr}`)
  const lines = said.map((line) => JSON.parse(line) as Line)
  return { code, cwd: start.cwd, lines, requests: model.requests().filter(({ n }) => n > before) }
}

// What a CLI has started and left behind is in its group.
function endGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
