import type { Client } from '../../client/client.ts'
import { bodyText } from '../../contract/body-text.ts'
import type { CommandOutput } from '../../contract/cli/outputs.ts'
import { AppError } from '../../contract/errors.ts'
import { linked } from '../../contract/linked.ts'
import type { RouteOutput } from '../../contract/routes.ts'
import { currentSession } from '../current-session.ts'
import type { Io } from '../io.ts'
import { given } from '../parse-values.ts'
import { jsonText, plainLines } from '../render/safe-text.ts'
import { openAside } from './hear-answer.ts'

/** Who answers here, and why. */
export type Answerer = RouteOutput<'chooseWorker'>

type Wish = {
  readonly agent: string
  readonly model: string | undefined
  readonly cli: string | undefined
}

/**
 * Asks the daemon who would answer, and tells a person; with nobody it refuses, and nothing was begun. An agent talks to
 * built-in agents, whose models the daemon chooses; what else is here is not its affair.
 */
export async function chooseAnswerer(client: Client, { agent, model, cli }: Wish, io: Io): Promise<Answerer> {
  if (cli === undefined && currentSession(io) !== undefined)
    return { cli: 'own', model: null, why: '', named: true }
  const chosen = await client.chooseWorker(
    { project_root: io.cwd, agent_id: agent, ...given({ model, cli }) },
    { signal: io.signal, timeoutMs: 30_000 },
  )
  // What a person named is no news to them.
  if (!io.isJson && !chosen.named) io.say(chosen.why)
  return chosen
}

type AskedCli = Wish & {
  readonly cli: string
  readonly text: string
  readonly keep: boolean | undefined
  readonly timeout: number | undefined
}

const startMs = 60_000
const killMs = 120_000
const longestClosing = 2000

/** Has a coding CLI answer once, in a session of its own that ends with the answer. */
export async function* askCli(client: Client, asked: AskedCli, io: Io): AsyncGenerator<string> {
  const { agent, cli, model, text, keep, timeout } = asked
  const startedAt = io.now()
  const { seq } = await client.health({}, { signal: io.signal })
  const session = await client.spawnSession(
    { agent_type: agent, cli, prompt: text, working_dir: io.cwd, mode: 'manual', ...given({ model }) },
    { signal: io.signal, timeoutMs: startMs },
  )
  const { id, session_id: short } = session
  const ended = await turnEnd(client, { id, after: seq, timeout }, io)
  if (ended.status === 'timeout')
    throw new AppError('timeout', `no answer after ${timeout} s; ${agent} keeps working: sm attach ${short}`)
  if (!keep) await close(client, id, ended)
  if (io.isJson) yield `${jsonText(answerOf({ agent, short, ended, durationMs: io.now() - startedAt }), 2)}\n`
  else if (ended.status === 'completed') yield `${plainLines(ended.text).trimEnd()}\n`
  if (ended.status !== 'completed')
    throw new AppError('failed', `${agent} ${ended.status}${ended.text === '' ? '' : `: ${ended.text}`}`)
  if (ended.isCut) io.say(`The answer is longer than what is shown; all of it: sm log export ${short}`)
  if (keep) io.say(`The session stays open: sm attach ${short}`)
}

type TurnEnd = {
  readonly status: 'completed' | 'failed' | 'cancelled' | 'timeout'
  readonly text: string
  readonly runId?: string
  /** Only its beginning is at hand. */
  readonly isCut: boolean
}

const ends = {
  'agent.completed': 'completed',
  'agent.failed': 'failed',
  'agent.cancelled': 'cancelled',
  'agent.killed': 'cancelled',
  'agent.abandoned': 'failed',
  'session.completed': 'cancelled',
  'session.failed': 'failed',
} as const
const listened = [...Object.keys(ends), 'approval.requested', 'session.state.changed', 'message.failed']

type Listening = { readonly id: string; readonly after: number; readonly timeout: number | undefined }

/** Waits until the first turn of a session has ended; what it asks meanwhile is told with the way to answer. */
async function turnEnd(client: Client, { id, after, timeout }: Listening, io: Io): Promise<TurnEnd> {
  using stop = linked(io.signal)
  const { signal } = stop
  if (timeout !== undefined)
    void io.sleep(timeout * 1000, signal).then(
      () => stop.abort(),
      () => {},
    )
  const aside = openAside({ client, io, sessionId: id })
  const filter = { session: id as never, after: String(after), type: listened.join(',') }
  try {
    for await (const { data } of client.streamEvents(filter, {
      signal,
      onRetry: ({ message }) => aside.lost(message),
    })) {
      const event = data as Told
      if (event.type === 'approval.requested') await aside.asked()
      if (isWaiting(event)) await tellDialog(client, id, io)
      const end = endOf(event, id)
      if (end) return end
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  if (!io.signal.aborted) return { status: 'timeout', text: '', isCut: false }
  await client.killSession({ id, force: true }, { timeoutMs: killMs })
  return { status: 'cancelled', text: 'it was interrupted', isCut: false }
}

type Told = RouteOutput<'streamEvents'>

const isWaiting = ({ type, payload }: Told): boolean =>
  type === 'session.state.changed' && (payload as { readonly to?: unknown }).to === 'waiting_input'

/** A dialog that is no permission, such as whether the folder is trusted, is answered in its terminal. */
async function tellDialog(client: Client, id: string, io: Io): Promise<void> {
  const { session_id, waiting_for } = await client.getSession({ id }, { signal: io.signal })
  if (waiting_for === 'dialog')
    io.say(`it waits at a question in its terminal; answer it there: sm attach ${session_id}`)
}

function endOf({ type, payload, runId, parentRunId }: Told, id: string): TurnEnd | undefined {
  const said = payload as { readonly [key: string]: unknown }
  if (type === 'message.failed')
    return said['messageId'] === `${id}:prompt`
      ? { status: 'failed', text: textOf(said['reason']) || 'it did not take its prompt', isCut: false }
      : undefined
  const status = ends[type as keyof typeof ends]
  // Agents that it started itself end turns of their own.
  if (status === undefined || parentRunId !== undefined) return undefined
  const body = said['detail'] ?? said['message'] ?? said['reason']
  return { status, text: textOf(body), runId, isCut: typeof body === 'object' && body !== null }
}

const textOf = (body: unknown): string => (typeof body === 'string' ? body : (bodyText(body) ?? ''))

async function close(client: Client, id: string, { status, text }: TurnEnd): Promise<void> {
  const outcome = {
    completed: 'completed',
    failed: 'error',
    cancelled: 'abandoned',
    timeout: 'abandoned',
  } as const
  const message = text.slice(0, longestClosing)
  try {
    await client.completeSession({ id, status: outcome[status], ...(message !== '' && { message }) })
  } catch (error) {
    // Somebody else ended it.
    if (!(error instanceof AppError) || error.code !== 'conflict') throw error
  }
  await client.killSession({ id }, { timeoutMs: killMs }).catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== 'conflict') throw error
  })
}

type Answered = {
  readonly agent: string
  readonly short: string
  readonly ended: TurnEnd
  readonly durationMs: number
}

const answerOf = ({ agent, short, ended, durationMs }: Answered): CommandOutput<'ask'> => ({
  session_id: short,
  run_id: ended.runId ?? null,
  agent,
  status: ended.status,
  text: ended.text,
  output: null,
  usage: null,
  tools: [],
  duration_ms: Math.max(0, Math.round(durationMs)),
})
