import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type {
  CheckpointView,
  ProcessView,
  ProgressView,
  SessionEventView,
} from '../../contract/session-views.ts'
import type { View } from '../command-module.ts'
import {
  age,
  ago,
  bytes,
  clock,
  count,
  duration,
  money,
  plural,
  shortCount,
  shortDuration,
} from './figures.ts'
import { painter } from './paint.ts'
import { oneLine, plainLines } from './safe-text.ts'
import { statusColour, titleOf } from './session-lines.ts'
import { table } from './table.ts'
import { cut, wrap } from './text-width.ts'

/** How far a session is; while it is watched each line keeps to one row. */
export function renderProgress(
  progress: ProgressView,
  view: View,
  { watch }: { readonly watch: number | undefined },
): string {
  const paint = painter(view.color)
  const { status, current_activity, checkpoints } = progress
  const isWide = watch === undefined
  const fit = (line: string) => (isWide ? line : cut(line, view.width))
  const [title, elapsed] = [titleOf(progress), `${duration(progress.elapsed_seconds)} elapsed`]
  return [
    `${title} | ${paint(statusColour(status), oneLine(status))} | ${elapsed}`,
    ...[
      tokensLine(progress),
      ...contextLine(progress),
      ...notCounted(progress),
      toolUses(progress),
      ...(current_activity === null ? [] : [`Status: ${oneLine(current_activity)}`]),
      ...lastToolLine(progress),
      ...troubleLines(progress),
      ...agentLines(progress),
      ...(checkpoints.length === 0 ? [] : ['', 'Checkpoints:']),
      ...milestoneLines(checkpoints, view.now).map((line) => `  ${line}`),
    ].map(fit),
  ].join('\n')
}

function tokensLine(progress: ProgressView): string {
  const { tokens_used, tokens_remaining_estimate, completion_percentage, estimate_basis } = progress
  const share = completion_percentage === null ? '' : ` (${completion_percentage}%)`
  if (tokens_remaining_estimate === null || progress.is_complete)
    return `Tokens: ${count(tokens_used)}${share}`
  const basis = estimate_basis?.startsWith('the median') ? `, ${estimate_basis}` : ''
  return `Tokens: ${count(tokens_used)} / ~${count(tokens_used + tokens_remaining_estimate)} est${share}${basis}`
}

function contextLine({ context_percent, cost_usd, cost_is_estimate, cost_basis }: ProgressView): string[] {
  const basis = cost_basis === null ? '' : ` (${oneLine(cost_basis)})`
  const amount = cost_usd === null ? 'unknown' : money(cost_usd, cost_is_estimate)
  const cost = cost_usd === null && cost_basis === null ? undefined : `${amount}${basis}`
  if (context_percent === null) return cost === undefined ? [] : [`Cost: ${cost}`]
  return [`Context: ${Math.round(context_percent)}% used${cost === undefined ? '' : `, cost ${cost}`}`]
}

const notCounted = ({ not_counted }: ProgressView): string[] =>
  not_counted === null ? [] : [`Not counted, because it is not reported: ${oneLine(not_counted)}`]

function toolUses({ tools_used }: ProgressView): string {
  const tools = Object.entries(tools_used).toSorted(([, a], [, b]) => b - a)
  return `Tools: ${tools.map(([name, uses]) => `${oneLine(name)}(${uses})`).join(' ') || 'none'}`
}

/** What somebody should look at: messages that wait or were lost, and other alerts. */
function troubleLines({ queued_messages, queued_reason, alerts }: ProgressView): string[] {
  const why = queued_reason === null ? '' : `: ${oneLine(queued_reason)}`
  return [
    ...(queued_messages > 0 ? [`Queued: ${plural(queued_messages, 'message')}${why}`] : []),
    ...alerts.map(({ kind, evidence }) => `Alert: ${kind.replace('_', ' ')}: ${oneLine(evidence)}`),
  ]
}

/** Who works for it now, and how many have ended. */
function agentLines({ agents, ended_agents, session_id }: ProgressView): string[] {
  if (agents.length + ended_agents === 0) return []
  return [
    '',
    'Agents:',
    ...agents.map((agent) => {
      const doing = [agent.current_activity, agent.current_task].filter(Boolean).join(': ')
      const used = `${shortCount(agent.tokens_used)} tokens`
      return `  ${[oneLine(agent.name) + ` (${agent.session_id})`, agent.status, used, oneLine(doing)].filter(Boolean).join(' | ')}`
    }),
    ...(ended_agents > 0 ? [`  ${ended_agents} ended hidden (sm children ${session_id})`] : []),
  ]
}

function lastToolLine({ last_tool }: ProgressView): string[] {
  if (last_tool === null) return []
  const target = targetOf(last_tool.args)
  const on = target === '' ? '' : ` → ${target}`
  return [`Last tool: ${oneLine(last_tool.name)}${on} (${duration(last_tool.seconds_ago)} ago)`]
}

const telling = ['file_path', 'path', 'command', 'pattern', 'url', 'query', 'description'] as const

/** What a tool was used on, in one word where there is one. */
function targetOf(args: Readonly<Record<string, unknown>>): string {
  const found = [...telling.map((name) => args[name]), ...Object.values(args)]
  const text = found.find((value) => typeof value === 'string' && value !== '')
  return typeof text === 'string' ? cut(oneLine(text.slice(0, 200)), 80) : ''
}

/** Milestones with their time, oldest first. */
export function milestoneLines(checkpoints: readonly CheckpointView[], now: number): string[] {
  return checkpoints.map(({ timestamp, message }) => `[${clock(timestamp, now)}] ${oneLine(message)}`)
}

type Item = CommandOutput<'blackboard'>['items'][number]

const longest = 2000

/** What is shared: each item with its kind, who put it there and when, and what it says. */
export function renderBlackboard({ items }: CommandOutput<'blackboard'>, view: View): string {
  if (items.length === 0) return 'Nothing is shared.'
  return items.map((item) => renderItem(item, view)).join('\n\n')
}

function renderItem(item: Item, { width, now, color }: View): string {
  const paint = painter(color)
  const { id, type, content, source, confidence, version, conflicts, expires_at } = item
  const facts = [
    oneLine(type),
    `by ${oneLine(source)}`,
    ago(item.updated_at, now),
    `version ${version}`,
    ...(confidence === null ? [] : [`${Math.round(confidence * 100)} % sure`]),
    ...(expires_at === null ? [] : [oneLine(`until ${expires_at}`)]),
  ]
  const clash = conflicts === 0 ? '' : ` | ${paint('yellow', `${conflicts} refused as too old`)}`
  const text = typeof content === 'string' ? content : (JSON.stringify(content) ?? '')
  return [
    `${paint('bold', oneLine(id))} | ${facts.join(' | ')}${clash}`,
    ...wrap(oneLine(text.slice(0, longest)), Math.max(20, width - 4)).map((line) => `    ${line}`),
  ].join('\n')
}

const longestName = 24

/** The processes of sessions; those that were left behind, or may have been, are marked. */
export function renderProcesses({ processes }: CommandOutput<'ps'>, { width, now }: View): string {
  if (processes.length === 0) return 'No processes.'
  const rows = table(
    processes,
    [
      { title: 'SESSION', cell: ({ name }) => cut(oneLine(name), longestName) },
      { title: 'ID', cell: ({ session_id }) => session_id },
      { title: 'PID', align: 'right', cell: ({ pid }) => String(pid) },
      { title: 'MEMORY', align: 'right', cell: ({ rss_bytes }) => bytes(rss_bytes) },
      { title: 'CPU', align: 'right', cell: ({ cpu_ms }) => shortDuration(cpu_ms / 1000) },
      { title: 'AGE', align: 'right', cell: ({ started_at }) => age(started_at, now) },
      {
        title: 'COMMAND',
        isElastic: true,
        cell: ({ command, ...one }) => oneLine(`${markOf(one)}${command.slice(0, 400)}`),
      },
    ],
    width,
  )
  const orphaned = new Set(
    processes.filter((one) => one.is_orphan && !one.is_suspect).map((one) => one.session_id),
  )
  const cures = Array.from(
    orphaned,
    (id) => `Session ${id} has ended; end what it left running with: sm kill ${id}`,
  )
  const doubts = processes
    .filter((one) => one.is_suspect)
    .map(
      ({ pid, session_id }) =>
        `Process ${pid} began where ${session_id} works or worked, and detached itself: nothing proves whose it is. If it is not yours, end it with: kill ${pid}`,
    )
  return [rows, ...cures, ...doubts].join('\n')
}

const markOf = ({ is_orphan, is_suspect }: Pick<ProcessView, 'is_orphan' | 'is_suspect'>): string =>
  is_suspect ? '[perhaps its own] ' : is_orphan ? '[left behind] ' : ''

/** A conversation: who said what and when; further lines of one text are indented. */
export function renderTranscript({ entries }: CommandOutput<'tail'>, { now, color }: View): string {
  const paint = painter(color)
  return entries
    .map(({ at, who, text }) => {
      const head = `${paint('dim', `[${clock(at, now)}]`)} ${paint('cyan', oneLine(who))}:`
      return `${head} ${plainLines(text).trim().replaceAll('\n', '\n    ')}`.trimEnd()
    })
    .join('\n')
}

/** One event of a session: `[15:15] completed: Child abc123 completed - "Feature X done"`, and who cut it short. */
export function renderSessionEvent(event: SessionEventView, { now, color }: View): string {
  const word = painter(color)(colourOf(event.event_type), oneLine(event.event_type))
  return `[${clock(event.timestamp, now)}] ${word}: ${oneLine(event.message)}${doneBy(event)}`.trimEnd()
}

// Who started or completed a session is no news; who ended it before it was done is. An answer names its giver itself.
const cutShort: ReadonlySet<string> = new Set(['killed', 'cancelled'])

const doneBy = ({ by, session_id, event_type }: SessionEventView): string =>
  !by || by === session_id || !cutShort.has(event_type) ? '' : ` (by ${oneLine(by)})`

function colourOf(word: string): 'red' | 'green' | 'yellow' | 'cyan' {
  if (/^(error|killed|cancelled|abandoned|refused)$/.test(word)) return 'red'
  if (word === 'waiting' || word === 'approval') return 'yellow'
  return word === 'completed' ? 'green' : 'cyan'
}
