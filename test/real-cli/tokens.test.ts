import { expect, test } from 'vitest'
import type { RecordedRequest } from '../../src/adapters/models/scripted/model-request.ts'
import { cliSessions, scripted } from '../support/cli-session.ts'
import { cliPath, clis, missingCli } from '../support/clis.ts'
import { type CliName, shellCall } from '../support/hermetic.ts'
import { eventually } from '../support/session-daemon.ts'

const usageOf = ({ usage: u }: RecordedRequest): number =>
  u === undefined ? 0 : u.input + u.output + u.cacheRead + u.cacheWrite
const sum = (requests: readonly RecordedRequest[]): number =>
  requests.reduce((all, request) => all + usageOf(request), 0)

/** What each CLI calls the commands, and how its agent hands work to a subagent. */
const words: Readonly<Record<CliName, { compact: string; clear: string }>> = {
  claude: { compact: '/compact', clear: '/clear' },
  codex: { compact: '/compact', clear: '/new' },
  opencode: { compact: '/compact', clear: '/new' },
  gemini: { compact: '/compress', clear: '/clear' },
  pi: { compact: '/compact', clear: '/new' },
}

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
    const m = await cliSessions(name, { version, config: 'child_agents: { mode: manual }\n' })
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

    await command(words[name].compact)
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

    await command(words[name].clear)
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
    const missing = untold[name]({ cut, titles, compacted, version })
    const read = async () => (await look()).tokens_used
    await expect.poll(read).toBe(sum(answered()) - missing.tokens)
    // Where the CLI does not tell something, people are told so.
    const { not_counted } = await m.client.getProgress({ id })
    for (const what of missing.named) expect(not_counted).toContain(what)
    await moneyIsRight(m, { cli: name, session, told: sum(answered()) - missing.tokens })
  },
)

type World = Awaited<ReturnType<typeof cliSessions>>
type Spent = {
  readonly cli: CliName
  readonly session: { readonly id: string; readonly session_id: string }
  readonly told: number
}

/** Claude Code reports its cost; of the others it is computed where their model has a price, and else it is said that it has none. */
async function moneyIsRight({ client }: World, { cli, session, told }: Spent): Promise<void> {
  const view = await client.getSession({ id: session.session_id })
  const { events } = await client.listEvents({ session: session.id, limit: 1000, type: 'budget.warning' })
  const details = events.map(({ payload }) => (payload as { detail?: string }).detail)
  if (cli === 'pi' || cli === 'opencode') {
    expect(view).toMatchObject({ cost_usd: null, cost_basis: 'no price is known for scripted' })
    expect(details).toEqual([expect.stringContaining('no price is known for scripted')])
    return
  }
  expect(details).toEqual([])
  const isReported = cli === 'claude'
  expect(view).toMatchObject({
    cost_is_estimate: !isReported,
    cost_basis: expect.stringMatching(
      isReported ? 'reported by Claude Code' : /^at API price of \d{4}-\d\d-\d\d$/,
    ),
  })
  // Between the price of a million tokens of cheap input and that of a million of output.
  expect(view.cost_usd).toBeGreaterThan((told * 0.2) / 1e6)
  expect(view.cost_usd).toBeLessThan((told * 30) / 1e6)
}

type Log = Readonly<Record<'cut' | 'titles' | 'compacted', readonly RecordedRequest[]>> & {
  readonly version: string
}

/** What no CLI can know of an answer that it broke off, and what each keeps to itself. */
const untold: Readonly<Record<CliName, (log: Log) => { tokens: number; named: readonly string[] }>> = {
  claude: ({ cut, compacted, version }) =>
    version === '2.1.197'
      ? { tokens: sum(cut) + sum(compacted), named: ['interrupted', 'a compaction'] }
      : // The beginning of a stream tells its input and one token of output.
        { tokens: sum(cut) - 501, named: ['interrupted'] },
  codex: ({ cut, titles }) => ({
    tokens: sum(cut) + sum(titles),
    named: ['interrupted', 'names a conversation'],
  }),
  opencode: ({ cut, titles }) => ({
    tokens: sum(cut) + sum(titles),
    named: ['interrupted', 'names a conversation'],
  }),
  gemini: ({ cut, compacted }) => ({
    tokens: sum(cut) + sum(compacted),
    named: ['interrupted', 'a compaction'],
  }),
  pi: ({ cut, compacted }) => ({
    tokens: sum(cut) + sum(compacted),
    named: ['interrupted', 'a compaction'],
  }),
}
