import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startScriptedModel } from '../../../src/adapters/models/scripted/scripted-model.ts'
import { claudeDialect } from '../../../src/contract/formats/claude/dialect.ts'
import { socketName } from '../../../src/daemon/sessions/socket-name.ts'
import { cliPath } from '../clis.ts'
import { hermetic, shellCall } from '../hermetic.ts'
import { seeded } from '../random.ts'
import type { Field, Target } from './campaign.ts'
import { campaignDaemon } from './campaign-daemon.ts'
import type { Taken } from './check.ts'
import { modelProxy } from './model-proxy.ts'
import type { Planned } from './plan.ts'

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
  const proxy = await modelProxy(model.url)
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
    const taken = () =>
      proxy
        .heard(foreign)
        .flatMap(asTaken)
        .filter(({ text }) => isOfCampaign(text))
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

const tiny = new Set(['a', '7', '.', '!', 'ok', '字', '/'].map((text) => claudeDialect.harmless(text)))

/** Of all that a CLI tells its model, what came from the campaign. */
const isOfCampaign = (text: string): boolean =>
  /\bm\d+\./.test(text) || text.includes('draft-') || tiny.has(text.trim())

/** What hooks brought stands in notes of the CLI, several in one block. */
const notes = /\bhook additional context: ([\s\S]*?)\s*(?:<\/system-reminder>|$)/g

function asTaken(text: string): Taken[] {
  // The same words again, as a note about the hook.
  if (text.includes('Stop hook blocking error from command')) return []
  const feedback = /^Stop hook feedback:\n([\s\S]*)$/.exec(text)?.[1]
  if (feedback !== undefined) return [{ how: 'injected', text: feedback }]
  const injected = [...text.matchAll(notes)].map(
    ([, words = '']): Taken => ({ how: 'injected', text: words }),
  )
  return injected.length > 0 ? injected : [{ how: 'typed', text }]
}

const folded = (text: string): string =>
  text
    .normalize('NFC')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()

/** Blanks and control characters aside, the same to the last character. */
const isSame = ({ text, how }: Taken, sent: string): boolean =>
  how === 'typed'
    ? folded(text) === folded(claudeDialect.harmless(sent))
    : // The CLI has notes of its own behind it.
      folded(text).startsWith(folded(sent))
