import type { Client } from '../../client/client.ts'
import { AppError } from '../../contract/errors.ts'
import { type Linked, linked } from '../../contract/linked.ts'
import type { Io } from '../io.ts'
import { ifReachable } from '../news.ts'
import { painter } from '../render/paint.ts'
import { beginSession, shortOf, type Wanted } from '../talk/begin-session.ts'
import { openEar } from '../talk/heard.ts'
import { InlineScreen } from '../tui/inline-screen.ts'
import { Loop } from '../tui/loop.ts'
import { asideLines, pastLines } from './chat-lines.ts'
import { type ChatEffect, type ChatInput, type ChatModel, openChat, type Step } from './model.ts'
import { reduce } from './reduce.ts'
import { view } from './view.ts'

const pastEntries = 12
const busyTickMs = 100
const idleTickMs = 1000

/** Speaks with agents in the terminal until somebody leaves. */
export async function runChat(io: Io, process: NodeJS.Process, wanted: Wanted): Promise<void> {
  const client = await (await io.daemon()).client()
  await new Chat({ io, client, process, wanted }).run()
}

type Parts = {
  readonly io: Io
  readonly client: Client
  readonly process: NodeJS.Process
  readonly wanted: Wanted
}

class Chat {
  readonly #parts: Parts
  readonly #screen: InlineScreen
  readonly #stop: Linked
  readonly #loop: Loop<ChatModel, ChatInput, Step>
  /** What is said goes in the order it was said in. */
  #saying: Promise<void> = Promise.resolve()
  #sessionId: string | undefined

  constructor(parts: Parts) {
    const { io, process, wanted } = parts
    this.#parts = parts
    this.#stop = linked(io.signal)
    this.#screen = new InlineScreen(process, {
      typed: (typed) => this.#loop.take(typed),
      resized: (size) => this.#loop.take({ kind: 'resize', size }),
      returned: () => this.#loop.take({ kind: 'resize', size: this.#screen.size() }),
      gone: () => this.#loop.leave(),
    })
    this.#loop = new Loop<ChatModel, ChatInput, Step>({
      model: openChat({
        size: this.#screen.size(),
        color: io.isColored,
        now: io.now(),
        agent: wanted.agent ?? 'lead',
        mode: wanted.mode,
      }),
      reduce: (model, input) => reduce({ ...model, now: io.now() }, input),
      act: ({ out, effects }) => {
        this.#screen.keep(out)
        for (const effect of effects) this.#do(effect)
      },
      draw: (model) => this.#screen.show(view(model)),
      isShown: () => this.#screen.isIn,
      tick: () => ({ kind: 'tick' }),
      tickMs: ({ runs }) => (runs.size > 0 ? busyTickMs : idleTickMs),
    })
  }

  async run(): Promise<void> {
    const { io, wanted } = this.#parts
    io.signal.addEventListener('abort', this.#loop.leave)
    if (wanted.session !== undefined) await this.#begin()
    this.#screen.open()
    try {
      if (this.#sessionId === undefined) this.#loop.take({ kind: 'lines', lines: this.#greeting() })
      this.#loop.start()
      await this.#loop.over
    } finally {
      this.#loop.stop()
      this.#screen.close(this.#farewell())
      this.#stop[Symbol.dispose]()
    }
  }

  #greeting(): string[] {
    const paint = painter(this.#loop.model.color)
    const { agent, session } = this.#loop.model
    const how = session === undefined ? 'a new session' : `session ${session}`
    return [
      '',
      `${paint('cyan', '◆ ')}${paint('bold', agent)}${paint('dim', `  ${how} in ${this.#parts.io.cwd}`)}`,
    ]
  }

  #farewell(): string[] {
    const { session, runs } = this.#loop.model
    if (session === undefined) return []
    const works = runs.size === 0 ? '' : ' Work in progress continues.'
    return [
      '',
      ...asideLines(
        this.#loop.model,
        `The session stays open.${works} Continue it with: sm chat --session ${session}`,
      ),
    ]
  }

  #do(effect: ChatEffect): void {
    switch (effect.kind) {
      case 'leave':
        return this.#loop.leave()
      case 'suspend':
        return this.#screen.suspend()
      case 'redraw':
        return this.#screen.clear()
      case 'say':
        this.#saying = this.#saying.then(() => this.#told(effect, () => this.#say(effect)))
        return
      default:
        void this.#told(effect, () => this.#act(effect))
    }
  }

  /** A refusal is told, anything else ends the chat. */
  async #told(effect: ChatEffect, act: () => Promise<void>): Promise<void> {
    try {
      await act()
    } catch (error) {
      if (this.#stop.signal.aborted) return
      if (!(error instanceof AppError)) return this.#loop.fail(error)
      const why = error.message
      this.#loop.take(
        effect.kind === 'say'
          ? { kind: 'unsent', text: effect.text, why }
          : { kind: 'note', note: { tone: 'bad', text: why } },
      )
      // What was asked may stand open still.
      if (effect.kind === 'decide') void this.#told({ kind: 'look' }, () => this.#look())
    }
  }

  async #say({ text, delivery }: Extract<ChatEffect, { kind: 'say' }>): Promise<void> {
    const { client, io } = this.#parts
    const { signal } = this.#stop
    const session_id = this.#loop.model.session === undefined ? await this.#begin() : this.#sessionId
    const said = await client.chat(
      { project_root: io.cwd, message: text, delivery, ...(session_id !== undefined && { session_id }) },
      { signal },
    )
    if (said.mode !== undefined) this.#loop.take({ kind: 'mode', mode: said.mode })
    if (said.message_id !== undefined) this.#loop.take({ kind: 'sent', text, id: said.message_id })
  }

  async #act(effect: Exclude<ChatEffect, { kind: 'say' | 'leave' | 'suspend' | 'redraw' }>): Promise<void> {
    const { client } = this.#parts
    const { signal } = this.#stop
    switch (effect.kind) {
      case 'cancel':
        for (const run_id of effect.runIds) await client.cancelAgent({ run_id: run_id as never }, { signal })
        return
      case 'decide':
        await client.decideApproval(effect.decision, { signal })
        return
      case 'dismiss':
        await client.dismissMessage({ message: effect.id }, { signal })
        return this.#loop.take({ kind: 'note', note: { tone: 'good', text: 'taken back' } })
      case 'look':
        return this.#look()
      case 'agents':
        return this.#agents()
      default:
        return undefined
    }
  }

  async #look(): Promise<void> {
    if (this.#sessionId === undefined) return
    const asked = this.#parts.client.listApprovals(
      { session: this.#sessionId },
      { signal: this.#stop.signal },
    )
    const found = await ifReachable(asked)
    if (found !== undefined) this.#loop.take({ kind: 'asks', asks: found.approvals })
  }

  async #agents(): Promise<void> {
    const { agents } = await (await this.#parts.io.offline()).agentsLoad(this.#stop.signal)
    const lines = agents
      .filter(({ kind }) => kind === 'main')
      .flatMap(({ name, description }) => asideLines(this.#loop.model, `@${name}  ${description}`))
    this.#loop.take({ kind: 'lines', lines: ['', ...lines] })
  }

  /** Begins the session, or joins the one that is named; it is heard before anything is said in it. */
  async #begin(): Promise<string> {
    const { client, wanted } = this.#parts
    const { signal } = this.#stop
    const session = this.#sessionId === undefined ? wanted.session : undefined
    const begun = await beginSession(client, { ...wanted, session }, signal)
    this.#sessionId = begun.sessionId
    this.#loop.take({ kind: 'joined', session: shortOf(begun), agent: begun.agent })
    const ear = await openEar(client, {
      sessionId: begun.sessionId,
      signal,
      maxFailures: Number.POSITIVE_INFINITY,
      onRetry: ({ message }) => this.#loop.take({ kind: 'offline', why: message }),
      onReturn: () => {
        this.#loop.take({ kind: 'offline', why: undefined })
        void this.#told({ kind: 'look' }, () => this.#look())
      },
    })
    if (!begun.isNew) {
      this.#loop.take({ kind: 'lines', lines: this.#greeting() })
      await this.#catchUp(begun.sessionId)
    }
    void this.#hear(ear)
    return begun.sessionId
  }

  async #hear(ear: Awaited<ReturnType<typeof openEar>>): Promise<void> {
    try {
      for await (const heard of ear) this.#loop.take({ kind: 'heard', heard })
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#loop.fail(error)
    }
  }

  /** What was said before, who works, and what is asked, in a session that was there already. */
  async #catchUp(id: string): Promise<void> {
    const { client } = this.#parts
    const { signal } = this.#stop
    const { entries } = await client.getTranscript({ id, limit: pastEntries }, { signal })
    this.#loop.take({ kind: 'lines', lines: pastLines(this.#loop.model, entries) })
    const runs = await client.listAgentRuns({ session_id: id }, { signal })
    this.#loop.take({
      kind: 'running',
      runs: runs
        .filter(({ status }) => status === 'running')
        .map(({ run_id, agent_id, agent_kind }) => ({
          runId: run_id,
          agent: agent_id,
          isBelow: agent_kind === 'subagent',
        })),
    })
    await this.#look()
  }
}
