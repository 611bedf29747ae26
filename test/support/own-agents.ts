import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { openModels } from '../../src/adapters/models/open-models.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { systemProcesses } from '../../src/adapters/system/processes.ts'
import { agentTools } from '../../src/adapters/tools/agent-tools.ts'
import { openVault } from '../../src/adapters/vault/file-vault.ts'
import type { AgentDefinition } from '../../src/contract/agent-definition.ts'
import { Config } from '../../src/contract/config.ts'
import { type AgentEvent, type EventType, isFact } from '../../src/contract/event.ts'
import type { OutputLine, TokenDelta } from '../../src/contract/formats/sse.ts'
import type { SessionId } from '../../src/contract/ids.ts'
import { matchesGlob } from '../../src/core/delegation/globs.ts'
import { priceBook } from '../../src/daemon/price-book.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { Tool } from '../../src/ports/tools.ts'
import { Runtime } from '../../src/runtime/runtime.ts'
import { Slots } from '../../src/runtime/slots.ts'
import { asker } from './asker.ts'
import { ids, openEngine } from './temp-engine.ts'
import { tempFolder } from './temp-journal.ts'

export const definition = (name: string, more: Partial<AgentDefinition> = {}): AgentDefinition => ({
  name,
  aliases: [],
  description: `the ${name}`,
  kind: 'main',
  tools: ['*'],
  policy: { allow: ['Patch', 'Finalize', 'Delegate'], delegateTargets: 'any' },
  model: undefined,
  workGlobs: [],
  defaultLockGlobs: [],
  skills: [],
  idlePrompt: undefined,
  idleIntervalSecs: undefined,
  personality: undefined,
  maxIters: undefined,
  budget: undefined,
  mcp: undefined,
  prompt: `You are ${name}.`,
  source: 'shipped',
  file: '',
  lines: {},
  ...more,
})

/** The roster that most tests need; a test may change it while a run is under way. */
export const roster = (): AgentDefinition[] => [
  definition('lead'),
  definition('coder'),
  definition('search', {
    kind: 'subagent',
    tools: ['Read', 'Grep', 'Glob'],
    policy: { allow: [], delegateTargets: 'any' },
  }),
  definition('worker', { kind: 'subagent' }),
]

/** A prompt that says what the scripted model does. */
export const script = (...steps: readonly object[]): string => `SCRIPT:${JSON.stringify(steps)}`
export const call = (name: string, input: object): object => ({ tools: [{ name, input }] })

/** built-in agents on a real journal, vault, tools and the scripted model over HTTP. */
export async function ownAgents(
  options: {
    readonly agents?: AgentDefinition[]
    readonly runtime?: Record<string, unknown>
    readonly prices?: Record<string, object>
    readonly folder?: string
    /** The clock of the runtime; the machine's when left out. */
    readonly clock?: Clock
    /** Tools that are opened for every run, as those of MCP servers are. */
    readonly opened?: readonly Tool[]
  } = {},
) {
  const folder = options.folder ?? realpathSync(tempFolder('mrun-'))
  const workspace = join(folder, 'work')
  mkdirSync(workspace, { recursive: true })
  const agents = options.agents ?? roster()
  const { journal, engine } = await openEngine(join(folder, 'journal'))
  const vault = await openVault(join(folder, 'vault'), join(folder, 'key'))
  const config = Config.parse({
    runtime: options.runtime ?? {},
    models: { default: 'scripted/scripted', prices: options.prices ?? {} },
  })
  const models = openModels({ config: config.models, env: {}, clock: systemClock })
  const tokens: TokenDelta[] = []
  const printed: OutputLine[] = []
  const bugs: unknown[] = []
  let changed = (event: AgentEvent): AgentEvent => event
  const all = async (): Promise<AgentEvent[]> => (await journal.page(0, 100_000)).map(({ event }) => event)
  const runtime = new Runtime({
    engine,
    vault,
    budgets: { isBound: () => false, isMoneyBound: () => false, over: async () => undefined },
    clock: options.clock ?? systemClock,
    ids,
    chance: () => 0,
    config: () => config,
    settingsIn: async () => config,
    agents: async () => agents,
    models,
    prices: priceBook(config.models.prices),
    slots: new Slots(() => config.runtime.max_concurrent),
    tools: agentTools({ env: process.env, processes: systemProcesses(systemClock), matchesGlob }),
    openTools: async () => ({ tools: options.opened ?? [], problems: [], close: async () => {} }),
    async *events(sessionId, types) {
      for (const event of (await all()).map((one) => changed(one)))
        if (event.sessionId === sessionId && types.includes(event.type) && isFact(event)) yield event
    },
    onToken: (delta) => tokens.push(delta),
    onOutput: (line) => printed.push(line),
    textStream: () => ({ push: (chunk) => chunk, end: () => '' }),
    onBug: (error) => bugs.push(error),
  })
  let isClosed = false
  /** As a killed daemon leaves it: nothing is told to anybody. */
  const abandon = async () => {
    if (isClosed) return
    isClosed = true
    // The journal first: what a run makes of a model that is gone is not told either.
    await journal.close().catch(() => {})
    await models.close()
    await vault.close()
  }
  onTestFinished(async () => {
    if (!isClosed) await runtime.stop()
    await abandon()
  })
  const state = (id: SessionId) => {
    const found = engine.session(id)
    if (!found) throw new Error(`no session ${id}`)
    return found
  }
  return {
    folder,
    workspace,
    runtime,
    engine,
    agents,
    tokens,
    printed,
    bugs,
    state,
    events: all,
    abandon,
    /** From now on the runtime reads its past so. */
    change(how: typeof changed) {
      changed = how
    },
    put(path: string, text: string) {
      const file = join(workspace, path)
      mkdirSync(join(file, '..'), { recursive: true })
      writeFileSync(file, text)
    },
    open: (agent = 'lead') => runtime.open({ agent, workspace, by: asker('test') }),
    say: (id: SessionId, text: string, more: object = {}) =>
      runtime.session(id).say(state(id), { text, from: 'test', mode: 'sequential', ...more }),
    /** Waits until a type was written so many times, and answers all of them. */
    async until<T extends EventType>(type: T, count = 1): Promise<Extract<AgentEvent, { type: T }>[]> {
      const deadline = performance.now() + 120_000
      for (;;) {
        const found = (await all()).filter(
          (event): event is Extract<AgentEvent, { type: T }> => event.type === type,
        )
        if (found.length >= count) return found
        if (performance.now() > deadline) {
          const types = (await all()).map(
            (event) => `${event.type} ${JSON.stringify(event.payload).slice(0, 200)}`,
          )
          throw new Error(`${found.length} of ${count} ${type}; bugs ${bugs.join()}\n${types.join('\n')}`)
        }
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    },
  }
}
