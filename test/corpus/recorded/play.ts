import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Signal } from '../../../src/contract/signal.ts'
import { socketName } from '../../../src/daemon/home.ts'
import { scripted } from '../../support/cli-session.ts'
import { type Cli, cliPath } from '../../support/clis.ts'
import { campaignDaemon } from '../../support/delivery/campaign-daemon.ts'
import { askingCall, type CliName, commandsOf, hermetic, shellCall } from '../../support/hermetic.ts'
import { recordingModel } from '../../support/recording-model.ts'
import { seedOpenCode } from '../../support/seed-opencode.ts'
import { eventually, processesOf } from '../../support/session-daemon.ts'
import type { CaseConfig } from '../corpus-case.ts'
import type { Label } from './recording.ts'

/** A session as it was lived through, its times in milliseconds from its start. */
export type RealRecording = {
  readonly scenario: string
  readonly signals: readonly Signal[]
  readonly probes: readonly {
    readonly name: string
    readonly at: number
    readonly is: Label
    readonly config?: CaseConfig
  }[]
}

/** What is said is in nobody's list of words that mean that work is done. */
const answer = 'The notes are in notes.md.'
/** Signs of one moment reach the daemon within this, and it looks at screens as often. */
const settleMs = 3500

/** Plays every scenario with one real CLI, a real daemon and a scripted model whose answers wait for a word. */
export async function play(
  cli: Cli,
  { home, only, say }: { home: string; only?: string | undefined; say: (line: string) => void },
) {
  const { name } = cli
  const model = await recordingModel()
  const own = hermetic(name, { home: join(home, 'c'), modelUrl: model.url, permissions: 'ask' })
  if (name === 'opencode') seedOpenCode(own.env, cli.version)
  const inherited = Object.keys(own.env).filter((one) => !['PATH', 'HOME', 'TERM'].includes(one))
  const args = name === 'gemini' ? ['-m', 'gemini-2.5-pro'] : name === 'pi' ? own.args : []
  const program = JSON.stringify(cliPath(name, cli.version))
  const config = join(home, 'config.yaml')
  writeFileSync(
    config,
    `${name === 'claude' ? `claude: { default_command: ${program} }` : `clis: { ${name}: { command: ${program}, args: ${JSON.stringify(args)} } }`}
child_agents: { mode: manual }
sessions: { inherit_environment_vars: ${JSON.stringify(['PATH', ...inherited])}, auto_restore: false }
`,
  )
  const notes = join(home, 'signals.jsonl')
  const noting = join(import.meta.dirname, 'note-signals.ts')
  const daemon = await campaignDaemon(home, {
    ...own.env,
    MUSTER_CONFIG: config,
    NOTED_SIGNALS: notes,
    NODE_OPTIONS: `--import=${noting}`,
  })
  const tmux = (...words: string[]) =>
    spawnSync('tmux', ['-u', '-L', socketName(home, ''), ...words], { encoding: 'utf8' }).stdout
  const recordings: RealRecording[] = []
  const stage = { cli, daemon, model, tmux, home, cwd: own.cwd }
  try {
    for (const [scenario, act] of Object.entries(scenarios(name))) {
      if (only !== undefined && only !== scenario) continue
      const player = new Player(stage, scenario)
      try {
        await act(player)
      } catch (error) {
        process.exitCode = 1
        say(`${name} ${cli.version} ${scenario} did not come to its end: ${String(error).slice(0, 300)}`)
        continue
      }
      const recording = { scenario, ...player.recording(notes) }
      recordings.push(recording)
      await daemon.ask((client) => client.killSession({ id: player.id, force: true })).catch(() => {})
      say(`${name} ${cli.version} ${scenario}: ${recording.signals.length} signals`)
    }
  } finally {
    await daemon.stop()
    tmux('kill-server')
    for (const pid of processesOf(home)) spawnSync('kill', ['-9', String(pid)])
    await model.close()
  }
  return recordings
}

type Stage = {
  readonly cli: Cli
  readonly daemon: Awaited<ReturnType<typeof campaignDaemon>>
  readonly model: Awaited<ReturnType<typeof recordingModel>>
  readonly tmux: (...words: string[]) => string
  readonly home: string
  readonly cwd: string
}

/** One session and whoever plays with it: the model answers when it is let, and what is the case is known. */
class Player {
  readonly #stage: Stage
  readonly #word: string
  readonly #probes: { name: string; at: number; is: Label; config?: CaseConfig }[] = []
  #startedMs = Date.now()
  #longId = ''
  #terminal = ''
  #config: CaseConfig | undefined

  constructor(stage: Stage, scenario: string) {
    this.#stage = stage
    this.#word = `WORD-${scenario}.`
  }

  get id(): string {
    return this.#longId
  }

  get cli(): CliName {
    return this.#stage.cli.name
  }

  /** Where a command that the agent runs and the player meet. */
  file(name: string): string {
    const folder = join(this.#stage.cwd, this.#word)
    mkdirSync(folder, { recursive: true })
    return join(folder, name)
  }

  hold(word = this.#word): void {
    this.#stage.model.held.add(word)
  }

  release(word = this.#word): void {
    this.#stage.model.held.delete(word)
  }

  prompt(steps: readonly object[], words = 'Work.'): string {
    return scripted(steps, `${this.#word} ${words}`)
  }

  async start(steps: readonly object[], words?: string, more: Record<string, unknown> = {}): Promise<void> {
    this.#startedMs = Date.now()
    const spawned = await this.#stage.daemon.ask((client) =>
      client.spawnSession(
        {
          agent_type: this.cli,
          prompt: this.prompt(steps, words),
          working_dir: this.#stage.cwd,
          ...more,
        },
        { timeoutMs: 240_000 },
      ),
    )
    this.#longId = spawned.id
    this.#terminal = spawned.tmux_session
  }

  async says(steps: readonly object[]): Promise<void> {
    await this.#stage.daemon.ask((client) =>
      client.sendMessage({ id: this.id, text: this.prompt(steps, 'Again.') }),
    )
  }

  async becomes(...wanted: readonly string[]): Promise<void> {
    await eventually(
      () => this.#stage.daemon.ask((client) => client.getSession({ id: this.id })),
      ({ status }) => wanted.includes(status),
    )
  }

  /** How many answers the model was asked for that it gives, or is about to give. */
  asked(): number {
    return this.#stage.model.requests().filter(({ answered }) => answered === 'step').length
  }

  async isAsked(count: number): Promise<void> {
    await eventually(
      async () => this.asked(),
      (now) => now >= count,
    )
  }

  async shows(words: string): Promise<void> {
    await eventually(
      async () => this.#stage.tmux('capture-pane', '-p', '-t', `=${this.#terminal}:`),
      (text) => text.includes(words),
    )
  }

  async exists(name: string): Promise<void> {
    await eventually(
      async () => existsSync(this.file(name)),
      (isThere) => isThere,
    )
  }

  async types(line: string): Promise<void> {
    this.#stage.tmux('send-keys', '-t', `=${this.#terminal}:`, '-l', line)
    await this.shows(line)
    // Enter in one go with the text would be part of it, and a menu that opens has to know the whole word.
    await sleep(1500)
    this.#stage.tmux('send-keys', '-t', `=${this.#terminal}:`, 'Enter')
  }

  async allow(): Promise<void> {
    await this.#stage.daemon.ask((client) => client.decideApproval({ id: this.id, verdict: 'allow' }))
  }

  async interrupt(): Promise<void> {
    await this.#stage.daemon.ask((client) => client.interruptSession({ id: this.id }))
  }

  kill(): void {
    const pid = this.#stage.tmux('display', '-p', '-t', `=${this.#terminal}:`, '#{pane_pid}').trim()
    spawnSync('kill', ['-9', pid])
  }

  /** The daemon dies, something happens, and another one takes over. */
  async withoutDaemon(meanwhile: () => Promise<void>): Promise<void> {
    const downAt = Date.now() - this.#startedMs
    const away = this.#stage.daemon.restart(8000)
    await meanwhile()
    await away
    this.#config = { downAt, resumedAt: Date.now() - this.#startedMs }
  }

  /** A moment at which something has been the case for long enough to be seen. */
  async probe(name: string, is: Label): Promise<void> {
    await sleep(settleMs)
    const at = Date.now() - this.#startedMs
    this.#probes.push({ name, at, is, ...(this.#config && { config: this.#config }) })
  }

  recording(notes: string): Omit<RealRecording, 'scenario'> {
    const { home } = this.#stage
    const all = readFileSync(notes, 'utf8')
      .replaceAll(home, '/home/dev')
      .replaceAll(home.replaceAll('/', '-'), '-home-dev')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { session: string; signals: Signal[] })
      .flatMap(({ session, signals }) => (session === this.#longId ? signals : []))
      .map((signal) => ({ ...brief(signal), at: signal.at - this.#startedMs }) as Signal)
    // A record that is read again says nothing new, and a screen that does not move only that it is still so.
    const known = new Set<string>()
    const signals = all.filter((signal, i) => {
      const text = JSON.stringify(signal.kind === 'screen' ? signal.reading : signal)
      if (signal.source === 'transcript' && known.has(text)) return false
      known.add(text)
      const [before, after] = [all.slice(0, i), all.slice(i + 1)].map((part, n) =>
        (n === 0 ? part.toReversed() : part).find((one) => one.kind === 'screen'),
      )
      const isSame = (one: Signal | undefined) =>
        one?.kind === 'screen' && JSON.stringify(one.reading) === text && !this.#isProbedNear(one, signal)
      return signal.kind !== 'screen' || !isSame(before) || !isSame(after)
    })
    return { signals, probes: this.#probes }
  }

  #isProbedNear(one: Signal, other: Signal): boolean {
    const [from, to] = [Math.min(one.at, other.at), Math.max(one.at, other.at)]
    return this.#probes.some(({ at }) => at >= from && at <= to)
  }
}

const longest = 160

/** The beginning of what is long: states hang on no more. */
function brief<T>(value: T): T {
  if (typeof value === 'string') return value.slice(0, longest) as T
  if (Array.isArray(value)) return value.slice(0, 12).map(brief) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, brief(inner)])) as T
}

/** What terminals measure differently, in a prompt and in an answer. */
const emoji = 'thumbs 👍🏽 up, a family 👩‍👩‍👧, a flag 🇩🇪'
const running = { lifecycle: 'running', health: 'ok' } as const
const idle = { lifecycle: 'idle', activity: 'idle', waitingFor: 'none', health: 'ok' } as const
const failed = { lifecycle: 'failed', activity: 'idle' } as const
const dead = { lifecycle: 'error' } as const
const asked = { lifecycle: 'waiting_input', waitingFor: 'permission', health: 'ok' } as const

type Act = (player: Player) => Promise<void>

/** What is played: what each label says is so because the player made it so. */
function scenarios(cli: CliName): Readonly<Record<string, Act>> {
  const isAsking = cli !== 'pi'
  return {
    turn: async (p) => {
      p.hold()
      await p.start([{ text: answer }])
      await p.becomes('running')
      await p.probe('thinking', running)
      p.release()
      await p.shows(answer)
      await p.becomes('idle')
      await p.probe('ended', idle)
      p.hold()
      await p.says([{ text: answer }])
      await p.becomes('running')
      await p.probe('thinking-again', running)
      p.release()
      await p.becomes('idle')
      await p.probe('ended-again', idle)
    },
    tool: async (p) => {
      const command = `touch ${p.file('begun')}; until [ -e ${p.file('go')} ]; do sleep 0.2; done`
      await p.start([{ tools: [shellCall(cli, command)] }, { text: answer }], undefined, {
        permission_mode: 'bypass',
      })
      await p.exists('begun')
      await p.probe('calling', { ...running, activity: 'calling_tool' })
      writeFileSync(p.file('go'), '')
      await p.shows(answer)
      await p.becomes('idle')
      await p.probe('ended', idle)
    },
    ...(isAsking && {
      permission: async (p: Player) => {
        const call = askingCall(cli, `touch ${p.file('allowed')}`)
        await p.start([{ tools: [call] }, { text: answer }])
        await p.becomes('waiting_input')
        await p.probe('asked', asked)
        await p.allow()
        await p.exists('allowed')
        await p.becomes('idle')
        await p.probe('ended', idle)
      },
    }),
    interrupted: async (p) => {
      const lines = Array.from({ length: 100 }, (_, i) => `slow ${i}`).join('\n')
      await p.start([{ text: lines, chunkMs: 4000 }])
      await p.shows('slow 1')
      await p.probe('answering', running)
      await p.interrupt()
      await p.probe('interrupted', idle)
    },
    failed: async (p) => {
      await p.start([{ status: 400 }])
      await p.becomes('failed', 'idle')
      await p.probe('failed', failed)
      p.hold()
      await p.says([{ text: answer }])
      await p.becomes('running')
      await p.probe('thinking', running)
      p.release()
      await p.becomes('idle')
      await p.probe('ended', idle)
    },
    emoji: async (p) => {
      p.hold()
      await p.start([{ text: emoji }], emoji)
      await p.becomes('running')
      await p.probe('thinking', running)
      p.release()
      await p.becomes('idle')
      await p.probe('ended', idle)
    },
    limited: async (p) => {
      const asked = p.asked()
      await p.start([{ status: 429, times: 1, text: answer, delayMs: 20_000 }])
      if (cli === 'codex') {
        await p.becomes('failed')
        await p.probe('limited', failed)
        return
      }
      // The others ask again by themselves, and have not ended their turn meanwhile.
      await p.isAsked(asked + 1)
      await p.probe('asks-again', { lifecycle: 'running' })
      await p.shows(answer)
      await p.becomes('idle')
      await p.probe('ended', idle)
    },
    compacted: async (p) => {
      await p.start([{ text: answer }])
      await p.shows(answer)
      await p.becomes('idle')
      await p.says([{ text: 'They are still there.' }])
      await p.shows('They are still there.')
      await p.becomes('idle')
      // Not every CLI hands the conversation over as it is.
      p.hold('/')
      await p.types(commandsOf[cli].compact)
      await p.becomes('running')
      await p.probe('compacting', running)
      p.release('/')
      await p.becomes('idle')
      await p.probe('compacted', idle)
    },
    cleared: async (p) => {
      await p.start([{ text: answer }])
      await p.shows(answer)
      await p.becomes('idle')
      await p.types(commandsOf[cli].clear)
      await p.probe('cleared', idle)
    },
    'killed-at-rest': async (p) => {
      await p.start([{ text: answer }])
      await p.shows(answer)
      await p.becomes('idle')
      p.kill()
      await p.probe('dead', dead)
    },
    'killed-in-its-turn': async (p) => {
      p.hold()
      await p.start([{ text: answer }])
      await p.becomes('running')
      await p.probe('thinking', running)
      p.kill()
      await p.probe('dead', dead)
      p.release()
    },
    'daemon-killed': async (p) => {
      p.hold()
      await p.start([{ text: answer }])
      await p.becomes('running')
      await p.withoutDaemon(async () => {})
      await p.probe('thinking-still', { lifecycle: 'running' })
      p.release()
      await p.shows(answer)
      await p.becomes('idle')
      await p.probe('ended', idle)
    },
    'ended-unseen': async (p) => {
      p.hold()
      await p.start([{ text: answer }])
      await p.becomes('running')
      await p.withoutDaemon(async () => {
        await sleep(1500)
        p.release()
        await p.shows(answer)
      })
      await p.probe('ended', { lifecycle: 'idle' })
    },
  }
}
