import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { socketName } from '../../../src/daemon/home.ts'
import { cliPath } from '../clis.ts'
import { hermetic, shellCall } from '../hermetic.ts'
import { seeded } from '../random.ts'
import { startScriptedModel } from '../scripted-model/scripted-model.ts'
import type { Field, Target } from './campaign.ts'
import { campaignDaemon } from './campaign-daemon.ts'
import { modelProxy } from './model-proxy.ts'
import type { Planned } from './plan.ts'
import { isSame } from './told.ts'

type ClaudeOptions = { readonly sessions: number; readonly seed: number; readonly version: string }

/** Sessions of the real Claude Code; what they took is what they told the model. */
export async function claudeField(
  home: string,
  { sessions, seed, version }: ClaudeOptions,
): Promise<Field & { close(): Promise<void> }> {
  const program = cliPath('claude', version)
  if (program === undefined)
    throw new Error(`claude ${version} is not installed; run: npm run clis -- claude`)
  const model = await startScriptedModel({})
  const proxy = await modelProxy(model.url, join(home, 'heard.jsonl'))
  const own = hermetic('claude', { home: join(home, 'c'), modelUrl: proxy.url, permissions: 'ask' })
  const config = join(home, 'config.yaml')
  const inherited = Object.keys(own.env).filter((name) => !['PATH', 'HOME', 'TERM'].includes(name))
  writeFileSync(
    config,
    `claude: { default_command: ${JSON.stringify(program)} }
child_agents: { mode: manual }
sessions: { inherit_environment_vars: ${JSON.stringify(['PATH', ...inherited])} }
`,
  )
  const daemon = await campaignDaemon(home, { ...own.env, MUSTER_CONFIG: config })
  const socket = socketName(home, '')
  const tmux = (...args: string[]) =>
    spawnSync('tmux', ['-u', '-L', socket, ...args], { encoding: 'utf8' }).stdout
  const targets: Target[] = []
  for (let i = 0; i < sessions; i++) {
    const { id, session_id, tmux_session } = await daemon.ask((client) =>
      client.spawnSession({ agent_type: 'claude', prompt: 'Begin.', working_dir: own.cwd }),
    )
    const { events } = await daemon.ask((client) =>
      client.listEvents({ session: id, type: 'session.launched', limit: 10, after: 0 }),
    )
    const launched = events.find(({ sessionId }) => sessionId === id)
    const foreign = (launched?.payload as { foreignId?: string } | undefined)?.foreignId
    if (foreign === undefined) throw new Error(`the conversation of ${session_id} is not known`)
    const taken = () => proxy.heard(foreign)
    targets.push({ id: session_id, tmuxSession: tmux_session, taken })
  }
  const random = seeded(seed + 9)
  return {
    home,
    socket,
    tmux,
    daemon,
    targets,
    version,
    same: isSame,
    dressed: (planned) => dressed({ ...planned, text: planned.text.replaceAll(skinTone, '') }, random),
    async close() {
      await daemon.stop()
      for (const name of [socket, `${socket}-person`]) spawnSync('tmux', ['-L', name, 'kill-server'])
      proxy.close()
      await model.close()
      await sleep(500)
    },
  }
}

/** Up to 3.3 tmux gives it cells of its own; what Claude Code draws after it is in the wrong rows then. */
const skinTone = /\p{Emoji_Modifier}/gu

/** Some turns are slow, some run a tool, and some of those have to ask. */
function dressed({ text, mode }: Planned, random: () => number): string {
  const roll = random()
  if (roll > 0.35 || text.length > 2000 || !/m\d+\./.test(text) || mode === 'important') return text
  const slow = { text: 'Slowly.', delayMs: Math.round(300 + random() * 3000) }
  const call = shellCall('claude', roll < 0.1 ? 'touch made.txt' : 'echo hi')
  const steps = roll < 0.2 ? [{ tools: [call] }, slow] : [slow]
  return `${text.trimEnd()}\nSCRIPT64:${Buffer.from(JSON.stringify(steps)).toString('base64')}`
}
