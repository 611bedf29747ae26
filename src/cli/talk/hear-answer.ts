import type { Client } from '../../client/client.ts'
import { linked } from '../../contract/linked.ts'
import type { Io } from '../io.ts'
import { renderApprovals } from '../render/approvals.ts'
import { painter } from '../render/paint.ts'
import { oneLine } from '../render/safe-text.ts'
import { cut } from '../render/text-width.ts'
import { Answer, type Ended } from './answer.ts'
import type { Begun } from './begin-session.ts'
import { type Heard, type Outcome, openEar, type ToolCall } from './heard.ts'
import { toolRow } from './tool-row.ts'

/** Something that an agent is asked, and how long its answer is waited for. */
type Asking = {
  readonly client: Client
  readonly io: Io
  readonly begun: Begun
  readonly text: string
  readonly timeout?: number | undefined
}

/** An answer that came, or did not. */
export type Answered = { readonly answer: Answer; readonly ended: Ended }

/** Asks, and gives the words of the answer as they come; as data nothing is given before the end. */
export async function* hearAnswer(asking: Asking): AsyncGenerator<string, Answered> {
  const { io } = asking
  const startedAt = io.now()
  const answer = new Answer()
  const ending = yield* heard(asking, answer)
  const end = answer.lineEnd()
  if (end !== '' && !io.isJson) yield end
  const { status, ...more } = ending ?? { status: await stopped(asking, answer) }
  return { answer, ended: { ...more, status, durationMs: io.now() - startedAt } }
}

/** Until the answer has its end; nothing when a person or the time ended the waiting. */
async function* heard(asking: Asking, answer: Answer): AsyncGenerator<string, Ending | undefined> {
  const { client, io, begun, text, timeout } = asking
  const { sessionId, agent } = begun
  using stop = linked(io.signal)
  const { signal } = stop
  if (timeout !== undefined)
    void io.sleep(timeout * 1000, signal).then(
      () => stop.abort(),
      () => {},
    )
  const aside = openAside({ client, io, sessionId })
  const ear = await openEar(client, { sessionId, signal, onRetry: ({ message }) => aside.lost(message) })
  try {
    const onSaid = (messageId: string) => {
      answer.messageId = messageId
    }
    const saying = { cwd: io.cwd, sessionId, agent, text, onSaid }
    const told = exchange(client, ear, { saying, signal })
    for (let read = await told.next(); ; read = await told.next()) {
      if (read.done) return read.value
      const { out, row, status } = answer.hear(read.value)
      if (out !== undefined && out !== '' && !io.isJson) yield out
      if (read.value.kind === 'asked') await aside.asked()
      if (row !== undefined) aside.row(row, row.runId === answer.runId ? undefined : row.agent)
      if (status !== undefined && !answer.isMidLine) aside.status(status)
    }
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  } finally {
    aside.clear()
    await ear.return(undefined)
  }
}

/** The waiting was ended: by a person, then so is the run; or by the time, then the agent works on. */
async function stopped(
  { client, io, begun }: Asking,
  { runId, messageId }: Answer,
): Promise<'cancelled' | 'timeout'> {
  if (!io.signal.aborted) return 'timeout'
  if (runId !== undefined) await client.cancelAgent({ run_id: runId as never })
  else if (messageId !== undefined && !begun.isNew) await client.dismissMessage({ message: messageId })
  io.say(`Cancelled: ${begun.agent} was told to stop.`)
  return 'cancelled'
}

/** What is said, to whom, and when it may be taken up. */
type Saying = {
  readonly cwd: string
  readonly sessionId: string
  readonly agent: string
  readonly text: string
  /** Hears under which id it waits. */
  readonly onSaid: (messageId: string) => void
}

/** How the run that took a message came to its end. */
export type Ending = Omit<Outcome, 'status'> & { readonly status: 'completed' | 'failed' | 'cancelled' }

/** Says something and passes on what is heard, with no receipts but its own, until the run that took it has ended; nothing when the ear was closed before. */
async function* exchange(
  client: Client,
  ear: AsyncGenerator<Heard>,
  { saying, signal }: { readonly saying: Saying; readonly signal: AbortSignal },
): AsyncGenerator<Heard, Ending | undefined> {
  const { cwd, sessionId, agent, text } = saying
  const said = await client.chat(
    { project_root: cwd, session_id: sessionId, agent_id: agent, message: text },
    { signal },
  )
  if (said.status === 'mode_set') return { status: 'completed' }
  saying.onSaid(said.message_id ?? '')
  let runId: string | undefined
  for (let read = await ear.next(); !read.done; read = await ear.next()) {
    const heard = read.value
    if (heard.kind === 'taken') {
      if (heard.messageId !== said.message_id) continue
      runId = heard.runId
    }
    if (heard.kind === 'refused' && heard.messageId === said.message_id) {
      const { detail } = await client.getMessage({ message: heard.messageId }, { signal })
      return { status: 'failed', detail: detail ?? 'no agent took it' }
    }
    if (heard.kind === 'closed') return { status: 'cancelled', detail: 'the session was ended' }
    yield heard
    if (heard.kind === 'ended' && heard.runId === runId)
      return { ...heard.outcome, status: statusOf(heard.outcome.status) }
  }
  return undefined
}

const statusOf = (status: string): Ending['status'] =>
  status === 'completed' || status === 'failed' ? status : status === 'abandoned' ? 'failed' : 'cancelled'

type Parts = { readonly client: Client; readonly io: Io; readonly sessionId: string }

/** What is told beside an answer, on the error stream: calls and status to somebody at a terminal, questions to everybody. */
type Aside = {
  row(call: ToolCall, by: string | undefined): void
  status(text: string): void
  clear(): void
  lost(message: string): void
  /** Something is asked, or was decided: what is new and waits is told, with the way to answer it. */
  asked(): Promise<void>
}

export function openAside({ client, io, sessionId }: Parts): Aside {
  const { stderr } = process
  const isSeen = stderr.isTTY && !io.isJson
  const paint = painter(isSeen && !io.env['NO_COLOR'] && io.env['TERM'] !== 'dumb')
  const told = new Set<string>()
  const width = () => (stderr.columns || 80) - 1
  let isShown = false
  return {
    row(call, by) {
      if (isSeen) io.say(paint('dim', toolRow({ ...call, by }, { width: width(), paint: (_, text) => text })))
    },
    status(text) {
      if (!isSeen) return
      isShown = true
      // What wraps cannot be taken back: each line that a command prints would leave a row.
      io.progress(paint('dim', cut(`… ${oneLine(text)}`, width())))
    },
    clear() {
      if (isShown) io.progress('')
    },
    lost: (message) => io.say(`${message}; trying again`),
    async asked() {
      const { approvals } = await client.listApprovals({ session: sessionId }, { signal: io.signal })
      const fresh = approvals.filter(({ approval_id }) => !told.has(approval_id))
      for (const { approval_id } of fresh) told.add(approval_id)
      const view = { width: width(), now: io.now(), color: false }
      if (fresh.length === 0) return
      for (const line of renderApprovals({ approvals: fresh }, view).split('\n')) io.say(line)
    },
  }
}
