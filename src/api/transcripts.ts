import type { AgentCliName } from '../contract/config/names.ts'
import type { AgentEvent } from '../contract/event.ts'
import type { SessionId } from '../contract/ids.ts'
import type { RunRow, SessionRow } from '../contract/index-rows.ts'
import type { RouteOutput } from '../contract/routes.ts'
import type { Signal } from '../contract/signal.ts'
import type { Engine } from '../engine/engine.ts'
import type { Observer } from '../engine/observer.ts'
import { conversationOf, readSpec } from '../engine/sessions/launch.ts'
import type { Parts } from '../engine/sessions/session-parts.ts'
import type { Directory } from './directory.ts'
import { textOf } from './session-views.ts'

/** The end of a conversation, and the file it was read from. */
export type Transcript = RouteOutput<'getTranscript'>
type Entry = Transcript['entries'][number]

const tailBytes = 512 * 1024
const mostChars = 4000

/** The end of a conversation as lines of text, for a session that has no terminal of ours. */
export const linesOf = (entries: readonly Entry[], most: number): string[] =>
  entries.flatMap(({ who, text }) => `${who}: ${text}`.split('\n')).slice(-most)

/** The end of a conversation as its CLI wrote it: prompts, answers and tools. */
export async function transcriptOf(
  { looking: { clis, files } }: Pick<ReadsTranscripts, 'looking'>,
  { cli, path, limit }: { cli: AgentCliName; path: string | undefined; limit: number },
): Promise<Transcript> {
  if (path === undefined) return { path: null, entries: [] }
  const { dialect } = clis[cli]
  const whole = await files.read(path, 0, 1)
  const from = Math.max(0, (whole?.size ?? 0) - tailBytes)
  const read = await files.read(path, from, tailBytes)
  const memory = {}
  // The first line of a tail may be cut; a dialect passes over what it cannot read.
  const signals = (read?.lines ?? []).flatMap(({ text }) => dialect.line(text, { memory }))
  const entries = signals.map(entryOfSignal).filter((entry) => entry !== undefined)
  return { path, entries: entries.slice(-limit) }
}

function entryOfSignal(signal: Signal): Entry | undefined {
  const at = new Date(signal.at).toISOString()
  const entry = (who: string, text: string): Entry => ({ at, who, text: text.slice(0, mostChars) })
  switch (signal.kind) {
    case 'prompt':
      return entry(signal.origin === 'task' ? 'task' : 'user', signal.text ?? '')
    case 'text':
      return entry('agent', signal.text)
    case 'tool-start':
      return entry('tool', `${signal.tool} ${JSON.stringify(signal.input ?? {})}`)
    case 'tool-end':
      return signal.ok ? undefined : entry('tool', `failed: ${signal.error ?? 'no reason given'}`)
    default:
      return undefined
  }
}

/** What reading a conversation needs; no terminal. */
export type ReadsTranscripts = {
  readonly directory: Directory
  readonly engine: Engine
  readonly observer: Observer
  readonly looking: Pick<Parts, 'clis' | 'files' | 'vault'> & {
    readonly env: Readonly<Record<string, string>>
  }
}

/** Where the conversation of a session is written, and in whose words; of one from outside by what is known of it. */
export async function writtenTranscript(
  { directory, engine, observer, looking }: ReadsTranscripts,
  row: SessionRow,
): Promise<{ cli: AgentCliName; path: string | undefined }> {
  const cli = (row.cli ?? 'custom') as AgentCliName
  if (row.origin === 'observed') {
    await observer.wanted()
    return { cli, path: (await engine.known(row.sessionId))?.managed?.transcript }
  }
  const transcript = directory.followed(row)?.transcript
  await transcript?.settled()
  if (transcript) return { cli, path: transcript.current }
  // Nobody follows it any more; its record is where its CLI keeps it.
  const managed = (await engine.known(row.sessionId))?.managed
  if (!managed) return { cli, path: undefined }
  const { env } = (await readSpec(looking, managed.launch)) ?? looking
  const [first] = await looking.clis[cli].transcripts(conversationOf(managed, env))
  return { cli, path: first?.path }
}

const conversationTypes = [
  'agent.spawned',
  'agent.message.created',
  'agent.completed',
  'agent.failed',
  'agent.cancelled',
  'agent.killed',
  'tool.call.started',
  'tool.call.failed',
  'tool.call.denied',
].join(',')

/**
 * The end of a conversation with built-in agents, or of what one agent inside of a session did: prompts, answers and
 * tools, as the journal has them.
 */
export async function recordedTranscript(
  directory: Directory,
  { sessionId, runId }: { readonly sessionId: SessionId; readonly runId?: string },
  limit: number,
): Promise<Transcript> {
  const { events } = await directory.events({ sessionId, runId, type: conversationTypes, limit })
  return { path: null, entries: events.flatMap(entryOfEvent) }
}

/** The same as lines of text, for an agent that has no terminal of its own. */
export async function outputOfAgent(
  directory: Directory,
  run: RunRow,
  lines: number,
): Promise<RouteOutput<'getOutput'>> {
  const { entries } = await recordedTranscript(directory, run, lines)
  return { lines: linesOf(entries, lines), is_alive: run.ending === null }
}

function entryOfEvent(event: AgentEvent): Entry[] {
  const entry = (who: string, text: string): Entry[] => [
    { at: event.timestamp, who, text: text.slice(0, mostChars) },
  ]
  switch (event.type) {
    case 'agent.spawned':
      return entry(event.parentRunId ? 'task' : 'user', textOf(event.payload.agentTask ?? ''))
    case 'agent.message.created':
      return entry('agent', textOf(event.payload.text ?? ''))
    case 'agent.completed':
      // A built-in agent says its last words in a message.
      return event.payload.detail === undefined ? [] : entry('agent', textOf(event.payload.detail))
    case 'agent.failed':
    case 'agent.cancelled':
    case 'agent.killed':
      return entry(
        'agent',
        `${event.payload.agentId}: ${event.payload.reason ?? 'it ended without an answer'}`,
      )
    case 'tool.call.started':
      return entry('tool', `${event.payload.tool} ${JSON.stringify(event.payload.params ?? {})}`)
    case 'tool.call.failed': {
      const { error } = event.payload
      return entry('tool', `failed: ${typeof error === 'string' ? error : (event.payload.reason ?? '')}`)
    }
    case 'tool.call.denied':
      return entry('tool', `denied: ${textOf(event.payload.reason)}`)
    default:
      return []
  }
}
