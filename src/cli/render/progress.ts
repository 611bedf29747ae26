import type { ProgressView } from '../../contract/session-views.ts'
import type { View } from '../command-module.ts'
import { count } from './amounts.ts'
import { duration } from './durations.ts'
import { milestoneLines } from './milestones.ts'
import { oneLine } from './one-line.ts'
import { painter } from './paint.ts'
import { statusColour, titleOf } from './session-line.ts'
import { cut } from './text-width.ts'

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
    `${title} | ${paint(statusColour(status), status)} | ${elapsed}`,
    ...[
      tokensLine(progress),
      ...contextLine(progress),
      toolsLine(progress),
      ...(current_activity === null ? [] : [`Status: ${oneLine(current_activity)}`]),
      ...lastToolLine(progress),
      ...(checkpoints.length === 0 ? [] : ['', 'Checkpoints:']),
      ...milestoneLines(checkpoints, view.now).map((line) => `  ${line}`),
    ].map(fit),
  ].join('\n')
}

function tokensLine(progress: ProgressView): string {
  const { tokens_used, tokens_remaining_estimate, completion_percentage, estimate_basis } = progress
  if (tokens_remaining_estimate === null) return `Tokens: ${count(tokens_used)}`
  const share = completion_percentage === null ? '' : ` (${completion_percentage}%)`
  const basis = estimate_basis?.startsWith('the median') ? `, ${estimate_basis}` : ''
  return `Tokens: ${count(tokens_used)} / ~${count(tokens_used + tokens_remaining_estimate)} est${share}${basis}`
}

function contextLine({ context_percent, cost_usd }: ProgressView): string[] {
  const parts = [
    ...(context_percent === null ? [] : [`${Math.round(context_percent)}% used`]),
    ...(cost_usd === null ? [] : [`cost $${cost_usd.toFixed(2)}`]),
  ]
  return parts.length === 0 ? [] : [`Context: ${parts.join(', ')}`]
}

function toolsLine({ tools_used }: ProgressView): string {
  const tools = Object.entries(tools_used).toSorted(([, a], [, b]) => b - a)
  return `Tools: ${tools.map(([name, uses]) => `${oneLine(name)}(${uses})`).join(' ') || 'none'}`
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
