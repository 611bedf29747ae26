import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { agentCliAdapters } from '../../../src/daemon/agent-cli-adapters.ts'
import { socketName } from '../../../src/daemon/home.ts'
import { cliPath, clis } from '../clis.ts'
import { type CliName, hermetic, shellCall } from '../hermetic.ts'
import { seeded } from '../random.ts'
import { startScriptedModel } from '../scripted-model/scripted-model.ts'
import { seedOpenCode } from '../seed-opencode.ts'
import { eventually, processesOf } from '../session-daemon.ts'
import type { Field, Target } from './campaign.ts'
import { campaignDaemon } from './campaign-daemon.ts'
import { firstPrompt, modelProxy } from './model-proxy.ts'
import type { Planned } from './plan.ts'
import { isSame } from './told.ts'

type CliOptions = {
  readonly cli: CliName
  readonly sessions: number
  readonly seed: number
  readonly version?: string
  /** Whether turns are slow, run tools and ask. */
  readonly isDressed?: boolean
}

/** Several large programs that start at once on a machine that is busy with others. */
const startsWithinMs = 900_000

/** Sessions of a real CLI; what they took is what they told the model. */
export async function cliField(
  home: string,
  { cli, sessions, seed, isDressed = false, ...asked }: CliOptions,
): Promise<Field & { close(): Promise<void> }> {
  const version = asked.version ?? clis.find(({ name }) => name === cli)?.version ?? ''
  const program = cliPath(cli, version)
  if (program === undefined)
    throw new Error(`${cli} ${version} is not installed; run: npm run clis -- ${cli}`)
  const model = await startScriptedModel({})
  const proxy = await modelProxy(model.url, join(home, 'heard.jsonl'))
  const own = hermetic(cli, { home: join(home, 'c'), modelUrl: proxy.url, permissions: 'ask' })
  if (cli === 'opencode') seedOpenCode(own.env, version)
  const config = join(home, 'config.yaml')
  const inherited = Object.keys(own.env).filter((name) => !['PATH', 'HOME', 'TERM'].includes(name))
  const args = cli === 'gemini' ? ['-m', 'gemini-2.5-pro'] : cli === 'pi' ? own.args : []
  const command =
    cli === 'claude'
      ? `claude: { default_command: ${JSON.stringify(program)} }`
      : `clis: { ${cli}: { command: ${JSON.stringify(program)}, args: ${JSON.stringify(args)} } }`
  writeFileSync(
    config,
    `${command}
child_agents: { mode: manual }
sessions: { inherit_environment_vars: ${JSON.stringify(['PATH', ...inherited])} }
`,
  )
  const daemon = await campaignDaemon(home, { ...own.env, MUSTER_CONFIG: config })
  const socket = socketName(home, '')
  const tmux = (...args: string[]) =>
    spawnSync('tmux', ['-u', '-L', socket, ...args], { encoding: 'utf8' }).stdout
  const targets = await Promise.all(
    Array.from({ length: sessions }, async (_, i): Promise<Target> => {
      const name = `s${i}`
      const { session_id, tmux_session } = await daemon.ask((client) =>
        client.spawnSession(
          { agent_type: cli, prompt: firstPrompt(name), working_dir: own.cwd },
          { timeoutMs: 240_000 },
        ),
      )
      // While it starts, OpenCode loses letters that a person types.
      await eventually(
        () => daemon.ask((client) => client.getSession({ id: session_id })),
        ({ status }) => status === 'idle',
        startsWithinMs,
      )
      return { id: session_id, tmuxSession: tmux_session, taken: () => proxy.heard(name) }
    }),
  )
  const random = seeded(seed + 9)
  const { dialect } = agentCliAdapters(own.env)[cli]
  return {
    home,
    socket,
    tmux,
    daemon,
    targets,
    version,
    dialect,
    same: (taken, text) => isSame(taken, text, dialect),
    ...(isDressed && { dressed: (planned: Planned) => dressed(planned, random) }),
    async close() {
      await daemon.stop()
      for (const name of [socket, `${socket}-person`]) spawnSync('tmux', ['-L', name, 'kill-server'])
      // Gemini outlives its terminal for a while.
      for (const pid of processesOf(home)) spawnSync('kill', ['-9', String(pid)])
      proxy.close()
      await model.close()
      await sleep(500)
    },
  }
}

/** Some turns are slow, some run a tool, and some of those have to ask. */
function dressed({ text, mode }: Planned, random: () => number): string {
  const roll = random()
  if (roll > 0.35 || text.length > 2000 || !/m\d+\./.test(text) || mode === 'important') return text
  const slow = { text: 'Slowly.', delayMs: Math.round(300 + random() * 3000) }
  const call = shellCall('claude', roll < 0.1 ? 'touch made.txt' : 'echo hi')
  const steps = roll < 0.2 ? [{ tools: [call] }, slow] : [slow]
  return `${text.trimEnd()}\nSCRIPT64:${Buffer.from(JSON.stringify(steps)).toString('base64')}`
}
