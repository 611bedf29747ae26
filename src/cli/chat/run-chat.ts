import type { Client } from '../../client/client.ts'
import { AppError } from '../../contract/errors.ts'
import { type Linked, linked } from '../../contract/linked.ts'
import { HeldTerminal } from '../held-terminal.ts'
import type { Io } from '../io.ts'
import { ifReachable } from '../news.ts'
import { painter } from '../render/paint.ts'
import { beginSession, shortOf, type Wanted } from '../talk/begin-session.ts'
import { openEar } from '../talk/open-ear.ts'
import { type Drawn, drawing, reflowed } from './draw.ts'
import { asideLines } from './ink-lines.ts'
import { type ChatEffect, type ChatInput, type ChatModel, openChat } from './model.ts'
import { pastLines } from './past-lines.ts'
import { reduce } from './reduce.ts'
import { view } from './view.ts'

// Pastes are marked as such; the screen stays the one that scrolls.
const codes = { enter: '\u001b[?2004h', leave: '\u001b[0m\u001b[?2004l\u001b[?25h' }
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
  readonly #terminal: HeldTerminal
  readonly #stop: Linked
  readonly #over = Promise.withResolvers<void>()
  #model: ChatModel
  #drawn: Drawn | undefined
  #out: string[] = []
  #isPaintDue = false
  #ticking: NodeJS.Timeout | undefined
  /** What is said goes in the order it was said in. */
  #saying: Promise<void> = Promise.resolve()
  #sessionId: string | undefined

  constructor(parts: Parts) {
    const { io, process, wanted } = parts
    this.#parts = parts
    this.#stop = linked(io.signal)
    this.#terminal = new HeldTerminal(process, codes, {
      typed: (typed) => this.#take(typed),
      resized: (size) => {
        this.#drawn = reflowed(this.#drawn, size.columns)
        this.#take({ kind: 'resize', size })
      },
      entered: () => {
        this.#drawn = undefined
      },
      returned: () => this.#take({ kind: 'resize', size: this.#terminal.size() }),
      gone: () => this.#over.resolve(),
    })
    this.#model = openChat({
      size: this.#terminal.size(),
      color: io.isColored,
      now: io.now(),
      agent: wanted.agent ?? 'lead',
      mode: wanted.mode,
    })
  }

  async run(): Promise<void> {
    const { io, wanted } = this.#parts
    const onAbort = () => this.#over.resolve()
    io.signal.addEventListener('abort', onAbort)
    if (wanted.session !== undefined) await this.#begin()
    this.#terminal.open()
    try {
      if (this.#sessionId === undefined) this.#take({ kind: 'lines', lines: this.#greeting() })
      this.#tick()
      await this.#over.promise
    } finally {
      clearTimeout(this.#ticking)
      this.#flush(this.#farewell())
      this.#terminal.close()
      this.#stop[Symbol.dispose]()
    }
  }

  #greeting(): string[] {
    const paint = painter(this.#model.color)
    const { agent, session } = this.#model
    const how = session === undefined ? 'a new session' : `session ${session}`
    return [
      '',
      `${paint('cyan', '◆ ')}${paint('bold', agent)}${paint('dim', `  ${how} in ${this.#parts.io.cwd}`)}`,
    ]
  }

  #farewell(): string[] {
    const { session, runs } = this.#model
    if (session === undefined) return []
    const works = runs.size === 0 ? '' : ' What is under way goes on.'
    return [
      '',
      ...asideLines(this.#model, `The session stays.${works} Come back: sm chat --session ${session}`),
    ]
  }

  /** Takes an input; a bug ends the chat, so that it is told on a terminal that can be read. */
  #take(input: ChatInput): void {
    try {
      const { model, out, effects } = reduce({ ...this.#model, now: this.#parts.io.now() }, input)
      this.#model = model
      this.#out.push(...out)
      for (const effect of effects) this.#do(effect)
      this.#paintSoon()
    } catch (error) {
      this.#over.reject(error)
    }
  }

  #do(effect: ChatEffect): void {
    switch (effect.kind) {
      case 'leave':
        return this.#over.resolve()
      case 'suspend':
        this.#flush([])
        return this.#terminal.suspend()
      case 'redraw':
        this.#terminal.write('\u001b[H\u001b[2J')
        this.#drawn = undefined
        return
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
      if (!(error instanceof AppError)) return this.#over.reject(error)
      const why = error.message
      this.#take(
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
    const session_id = this.#model.session === undefined ? await this.#begin() : this.#sessionId
    const said = await client.chat(
      { project_root: io.cwd, message: text, delivery, ...(session_id !== undefined && { session_id }) },
      { signal },
    )
    if (said.mode !== undefined) this.#take({ kind: 'mode', mode: said.mode })
    if (said.message_id !== undefined) this.#take({ kind: 'sent', text, id: said.message_id })
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
        return this.#take({ kind: 'note', note: { tone: 'good', text: 'taken back' } })
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
    if (found !== undefined) this.#take({ kind: 'asks', asks: found.approvals })
  }

  async #agents(): Promise<void> {
    const { agents } = await (await this.#parts.io.offline()).agentsLoad(this.#stop.signal)
    const lines = agents
      .filter(({ kind }) => kind === 'main')
      .flatMap(({ name, description }) => asideLines(this.#model, `@${name}  ${description}`))
    this.#take({ kind: 'lines', lines: ['', ...lines] })
  }

  /** Begins the session, or joins the one that is named; it is heard before anything is said in it. */
  async #begin(): Promise<string> {
    const { client, wanted } = this.#parts
    const { signal } = this.#stop
    const session = this.#sessionId === undefined ? wanted.session : undefined
    const begun = await beginSession(client, { ...wanted, session }, signal)
    this.#sessionId = begun.sessionId
    this.#take({ kind: 'joined', session: shortOf(begun), agent: begun.agent })
    const ear = await openEar(client, {
      sessionId: begun.sessionId,
      signal,
      maxFailures: Number.POSITIVE_INFINITY,
      onRetry: ({ message }) => this.#take({ kind: 'offline', why: message }),
      onReturn: () => {
        this.#take({ kind: 'offline', why: undefined })
        void this.#told({ kind: 'look' }, () => this.#look())
      },
    })
    if (!begun.isNew) {
      this.#take({ kind: 'lines', lines: this.#greeting() })
      await this.#catchUp(begun.sessionId)
    }
    void this.#hear(ear)
    return begun.sessionId
  }

  async #hear(ear: Awaited<ReturnType<typeof openEar>>): Promise<void> {
    try {
      for await (const heard of ear) this.#take({ kind: 'heard', heard })
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#over.reject(error)
    }
  }

  /** What was said before, who works, and what is asked, in a session that was there already. */
  async #catchUp(id: string): Promise<void> {
    const { client } = this.#parts
    const { signal } = this.#stop
    const { entries } = await client.getTranscript({ id, limit: pastEntries }, { signal })
    this.#take({ kind: 'lines', lines: pastLines(this.#model, entries) })
    const runs = await client.listAgentRuns({ session_id: id }, { signal })
    this.#take({
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

  #tick(): void {
    this.#ticking = setTimeout(
      () => {
        if (this.#terminal.isIn) this.#take({ kind: 'tick' })
        this.#tick()
      },
      this.#model.runs.size > 0 ? busyTickMs : idleTickMs,
    )
  }

  /** Everything that came at once is one drawing. */
  #paintSoon(): void {
    if (this.#isPaintDue) return
    this.#isPaintDue = true
    setImmediate(() => {
      this.#isPaintDue = false
      if (this.#terminal.isIn) this.#paint()
    })
  }

  #paint(): void {
    try {
      const wanted = view(this.#model)
      this.#terminal.write(drawing(this.#drawn, this.#out, wanted))
      this.#drawn = wanted
      this.#out = []
    } catch (error) {
      this.#over.reject(error)
    }
  }

  /** Takes the changing end away and leaves what stays. */
  #flush(last: readonly string[]): void {
    this.#terminal.write(drawing(this.#drawn, [...this.#out, ...last], undefined))
    this.#drawn = undefined
    this.#out = []
  }
}
