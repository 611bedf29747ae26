import { expect, test } from 'vitest'
import type { RecordedRequest } from '../../src/adapters/models/scripted/model-request.ts'
import { agentClis } from '../../src/contract/agent-clis.ts'
import listPrices from '../../src/contract/list-prices.json' with { type: 'json' }
import { PriceBook } from '../../src/core/ledger/price-book.ts'
import { cliSessions, scripted } from '../support/cli-session.ts'
import { cliPath, clis, missingCli } from '../support/clis.ts'
import { type CliName, commandsOf, shellCall } from '../support/hermetic.ts'
import { eventually } from '../support/session-daemon.ts'

const usageOf = ({ usage: u }: RecordedRequest): number =>
  u === undefined ? 0 : u.input + u.output + u.cacheRead + u.cacheWrite
const sum = (requests: readonly RecordedRequest[]): number =>
  requests.reduce((all, request) => all + usageOf(request), 0)

/** How each CLI's agent hands work to a subagent. */
function delegation(cli: CliName, prompt: string): object[] {
  switch (cli) {
    case 'claude':
      return [
        {
          name: 'Agent',
          input: { description: 'sub', prompt, subagent_type: 'general-purpose', run_in_background: false },
        },
      ]
    case 'codex':
      return [{ name: 'spawn_agent', input: { message: prompt, task_name: 'sub' } }]
    case 'opencode':
      return [{ name: 'task', input: { description: 'sub', prompt, subagent_type: 'general' } }]
    case 'gemini':
      return [{ name: 'invoke_agent', input: { agent_name: 'generalist', prompt } }]
    // It has no subagents.
    case 'pi':
      return []
  }
}

/** The same phases for every CLI; the log of the model's server is cut at their ends. */
test.for(clis)(
  '[MUS-328][MUS-329][MUS-330] $name $version: tokens are those of the server, over tools, subagents, /compact, an interrupt and /clear',
  async (cli, { skip }) => {
    const { name, version } = cli
    if (cliPath(name, version) === undefined) return skip(missingCli(cli))
    const m = await cliSessions(name, {
      version,
      config: 'child_agents: { mode: manual }\n',
      // A name that has a price.
      model: 'gpt-4o',
    })
    const answered = () => m.model.requests().filter(({ usage }) => usage !== undefined)
    const calls = delegation(
      name,
      scripted(
        [
          { text: 'inner', tools: [shellCall(name, 'echo x')], usage: { input: 100, output: 10 } },
          { text: 'inner done', usage: { input: 200, output: 20 } },
        ],
        'Sub work.',
      ),
    )
    const session = await m.spawn(
      scripted(
        [
          {
            text: 'outer',
            tools: [shellCall(name, 'echo y')],
            usage: { input: 1000, output: 100, cacheRead: 50 },
          },
          ...(calls.length === 0
            ? []
            : [{ text: 'more', tools: calls, usage: { input: 1500, output: 150 } }]),
          { text: 'outer done', usage: { input: 2000, output: 200 } },
        ],
        'Outer work.',
      ),
      { permission_mode: 'bypass', budget: { usd: 100 } },
    )
    const id = session.session_id
    const screen = ['-t', `=${session.tmux_session}:`]
    const look = () => m.client.getSession({ id })
    /** Waits until it is idle and nothing more was asked of the model or counted for a while. */
    const settled = async () => {
      let before = ''
      let same = 0
      await eventually(
        async () => {
          const { status, tokens_used } = await look()
          const now = `${status} ${tokens_used} ${answered().length}`
          same = now === before && status === 'idle' ? same + 1 : 0
          before = now
          return { same, now }
        },
        (found) => found.same >= 16,
      )
    }
    const command = (line: string) => m.typeLine(session.tmux_session ?? '', line)
    const says = async (output: number, more: object = {}) => {
      const steps = [{ text: `said ${output}`, usage: { input: 10 * output, output }, ...more }]
      await m.client.sendMessage({ id, text: scripted(steps, `Say ${output}.`) })
      await eventually(
        async () => answered().some(({ usage }) => usage?.output === output),
        (isThere) => isThere,
      )
    }
    await eventually(
      async () => answered().filter(({ answered: how }) => how === 'step').length,
      (steps) => steps >= (calls.length === 0 ? 2 : 5),
    )
    await settled()
    const worked = answered().length
    const uncounted = async () => (await m.client.getProgress({ id })).not_counted
    const { untold } = agentClis[name]
    // What has not happened is not said to be missing.
    expect(await uncounted()).toBe(untold.naming ?? null)

    await command(commandsOf[name].compact)
    await eventually(
      async () => answered().length,
      (count) => count > worked,
    )
    await settled()
    const compacted = answered().slice(worked)

    // Whole lines: some show a line only when it has ended, and an answer of which nothing shows is taken back.
    // It must not end by itself before it is interrupted, however busy the machine: it comes in some 35 pieces.
    await says(50, { text: Array.from({ length: 100 }, (_, i) => `slow ${i}`).join('\n'), chunkMs: 4000 })
    await eventually(
      async () => m.tmux('capture-pane', '-p', ...screen),
      (text) => text.includes('slow 1'),
    )
    expect(await m.sm('interrupt', id)).toMatchObject({ code: 0 })
    await settled()
    await says(70)
    await settled()

    await command(commandsOf[name].clear)
    await settled()
    await says(80)
    await settled()
    // OpenCode keeps its conversations in a database, which is not read.
    if (name !== 'opencode') {
      const tail = await m.sm('tail', id)
      expect(tail.text).toContain('said 80')
      expect(tail.text).not.toContain('said 70')
    }

    const cut = answered().filter(({ isSent }) => !isSent)
    expect(cut).toHaveLength(1)
    const named = answered().filter(({ answered: how }) => how === 'side')
    const titles = named.filter((one) => !compacted.some(({ n }) => n === one.n))
    const { untold: kept, isCompactionTold } = telling[name]({ cut, titles, compacted, version })
    const told = answered().filter(({ n }) => !kept.some((one) => one.n === n))
    // Of an answer that breaks off Claude Code tells what the beginning of its stream told: the input and one token.
    const begun = name === 'claude' && version !== '2.1.197' ? 501 : 0
    await expect.poll(async () => (await look()).tokens_used).toBe(sum(told) + begun)
    // Where the CLI does not tell something, people are told so.
    const missing = [untold.naming, untold.interrupt, ...(isCompactionTold ? [] : [untold.compaction])]
    expect(await uncounted()).toBe(missing.filter((one) => one !== undefined).join('; '))
    await moneyIsRight(m, { cli: name, session, told })
  },
)

type World = Awaited<ReturnType<typeof cliSessions>>
type Spent = {
  readonly cli: CliName
  readonly session: { readonly id: string; readonly session_id: string }
  readonly told: readonly RecordedRequest[]
}

const prices = new PriceBook(listPrices)

/** Claude Code reports its cost; that of the others is computed, call by call, and says by which prices. */
async function moneyIsRight({ client }: World, { cli, session, told }: Spent): Promise<void> {
  const { events } = await client.listEvents({ session: session.id, limit: 1000, type: 'budget.warning' })
  expect(events).toEqual([])
  const view = await client.getSession({ id: session.session_id })
  if (cli === 'claude') {
    expect(view).toMatchObject({ cost_is_estimate: false, cost_basis: 'reported by Claude Code' })
    // Between the price of a million tokens of cheap input and that of a million of output.
    expect(view.cost_usd).toBeGreaterThan((sum(told) * 0.2) / 1e6)
    expect(view.cost_usd).toBeLessThan((sum(told) * 30) / 1e6)
    return
  }
  expect(view).toMatchObject({ cost_is_estimate: true, cost_basis: `at API price of ${listPrices.asOf}` })
  const costs = told.map(
    ({ model = '', usage }) => prices.estimate(model, usage ?? {})?.costUsd ?? Number.NaN,
  )
  expect(view.cost_usd).toBeCloseTo(
    costs.reduce((all, one) => all + one, 0),
    6,
  )
}

type Log = Readonly<Record<'cut' | 'titles' | 'compacted', readonly RecordedRequest[]>> & {
  readonly version: string
}
type Telling = (log: Log) => {
  readonly untold: readonly RecordedRequest[]
  readonly isCompactionTold: boolean
}

/** What no CLI can know of an answer that it broke off, and what each keeps to itself. */
const telling: Readonly<Record<CliName, Telling>> = {
  claude: ({ cut, compacted, version }) =>
    version === '2.1.197'
      ? { untold: [...cut, ...compacted], isCompactionTold: false }
      : { untold: cut, isCompactionTold: true },
  codex: ({ cut, titles }) => ({ untold: [...cut, ...titles], isCompactionTold: true }),
  opencode: ({ cut, titles }) => ({ untold: [...cut, ...titles], isCompactionTold: true }),
  gemini: ({ cut, compacted }) => ({ untold: [...cut, ...compacted], isCompactionTold: false }),
  pi: ({ cut, compacted }) => ({ untold: [...cut, ...compacted], isCompactionTold: false }),
}
