import type { CommandOutput } from '../../contract/cli/outputs.ts'
import { criticalPath } from '../../core/trace/critical-path.ts'
import { type OutlineRow, outline } from '../../core/trace/outline.ts'
import { timeSpent, timeUses } from '../../core/trace/time-spent.ts'
import { isFailure, type TraceNode, traceTree } from '../../core/trace/trace-tree.ts'
import type { View } from '../command-module.ts'
import type { Slices } from '../commands/trace.ts'
import { elapsed, money, shortCount } from './figures.ts'
import { type Colour, type Paint, painter } from './paint.ts'
import { oneLine } from './safe-text.ts'
import { cut, textWidth, wrap } from './text-width.ts'

type Options = { readonly slices: Slices; readonly depth: number | undefined; readonly critical: boolean }

/** One line: what stands left, and the figures at its right. */
type Line = { readonly left: readonly Part[]; readonly figures: readonly string[] }
type Part = { readonly text: string; readonly colour?: Colour | undefined }

/** A trace as a tree with its figures at the right, and where the time went below it. */
export function renderTrace(
  page: CommandOutput<'trace'>,
  { width, now, color }: View,
  { slices, depth, critical }: Options,
): string {
  const tops = topsOf(traceTree(page), page)
  if (tops.length === 0) return 'Nothing was recorded of it yet.'
  const path = critical ? shares(tops, now) : undefined
  const keeps = [sliced(slices), path && ((node: TraceNode) => path.has(node))].filter(
    (keep) => keep !== undefined,
  )
  const rows = outline(tops, {
    ...(depth !== undefined && { depth }),
    ...(keeps.length > 0 && { keep: (node: TraceNode) => keeps.every((keep) => keep(node)) }),
  })
  if (rows.length === 0) return 'Nothing of it is in this slice.'
  const lines = rows.flatMap((row) => linesOf(row, { now, path, head: '', below: '' }))
  const [top] = tops
  const spent = top && slicesAreEmpty(slices) ? ['', ...wrap(timeLine(top, now), width)] : []
  return [...laidOut(lines, width, painter(color)), ...spent].join('\n')
}

/** The agent that was named, or all that stands at the top. */
function topsOf(roots: readonly TraceNode[], { runId }: CommandOutput<'trace'>): readonly TraceNode[] {
  if (runId === null) return roots
  const left = [...roots]
  for (let node = left.shift(); node !== undefined; node = left.shift()) {
    if (node.kind === 'agent' && node.runId === runId) return [node]
    left.push(...node.children)
  }
  return roots.filter((node) => node.runId === runId)
}

const slicesAreEmpty = (slices: Slices): boolean => Object.keys(slices).length === 0

const failing: ReadonlySet<string> = new Set(['error', 'failed'])

function sliced({ phase, agent, tool, status }: Slices): ((node: TraceNode) => boolean) | undefined {
  if (!(phase || agent || tool || status)) return undefined
  const isOne = (words: readonly string[] | undefined, ...said: readonly (string | null)[]): boolean =>
    words === undefined || words.some((word) => said.some((one) => one?.toLowerCase() === word.toLowerCase()))
  return (node) =>
    isOne(phase, node.phase) &&
    isOne(agent, node.actor, node.kind === 'agent' ? node.name : null) &&
    isOne(tool, node.tool) &&
    (isOne(status, node.status, node.verdict) ||
      (isFailure(node) && status?.some((word) => failing.has(word)) === true))
}

/** How long of the time each node on the critical path has a share in, what is below it included. */
function shares(tops: readonly TraceNode[], now: number): Map<TraceNode, number> {
  const found = new Map<TraceNode, number>()
  for (const top of tops)
    for (const { node, ownMs } of criticalPath(top, now))
      for (let at: TraceNode | undefined = node; at !== undefined; at = at.parent)
        found.set(at, (found.get(at) ?? 0) + ownMs)
  return found
}

type Place = {
  readonly now: number
  readonly path: ReadonlyMap<TraceNode, number> | undefined
  /** What stands before the line of a row, and before the lines of what is below it. */
  readonly head: string
  readonly below: string
}

function linesOf(row: OutlineRow, place: Place): Line[] {
  const { head, below } = place
  const more =
    row.hidden === 0
      ? []
      : [
          {
            left: [{ text: `${below}└─ ` }, { text: `${row.hidden} more`, colour: 'dim' as const }],
            figures: ['', '', ''],
          },
        ]
  return [
    lineOf(row, head, place),
    ...row.children.flatMap((child, i) => {
      const isLast = i === row.children.length - 1
      return linesOf(child, {
        ...place,
        head: `${below}${isLast ? '└─ ' : '├─ '}`,
        below: `${below}${isLast ? '   ' : '│  '}`,
      })
    }),
    ...more,
  ]
}

function lineOf(row: OutlineRow, head: string, { now, path }: Place): Line {
  const [node] = row.nodes
  const isBad = isFailure(node)
  const isAgent = node.kind === 'agent' || node.kind === 'session'
  const state = stateOf(row)
  const labelColour: Colour | undefined = isBad ? 'red' : isAgent ? 'bold' : undefined
  const ms =
    row.durationMs ??
    (row.status === 'open' && row.startedMs !== null ? Math.max(0, now - row.startedMs) : null)
  const share = path === undefined ? undefined : Math.max(0, ...row.nodes.map((one) => path.get(one) ?? 0))
  return {
    left: [
      { text: head, colour: 'dim' },
      { text: row.label, colour: labelColour },
      ...(state === undefined ? [] : [{ text: `  ${state.text}`, colour: state.colour }]),
      ...(row.title === '' ? [] : [{ text: `  ${oneLine(row.title)}`, colour: 'dim' as const }]),
    ],
    figures: [
      row.tokens === null ? '' : shortCount(row.tokens),
      row.costUsd === null ? '' : money(row.costUsd),
      share !== undefined ? elapsed(share) : node.kind === 'mark' || ms === null ? '' : elapsed(ms),
    ],
  }
}

const verdictColours: Readonly<Record<string, Colour>> = {
  approved: 'green',
  changes_requested: 'yellow',
  rejected: 'red',
}

/** How it stands, when that is not simply done. */
function stateOf({ status, verdict, nodes: [node] }: OutlineRow): Part | undefined {
  if (verdict !== null) return { text: verdict.replaceAll('_', ' '), colour: verdictColours[verdict] }
  if (status === null || status === 'ok') return undefined
  const words = status === 'open' ? 'open' : status
  const why = node.detail === null || status === 'open' ? '' : `: ${oneLine(node.detail)}`
  return { text: `${words}${why}`, colour: status === 'open' ? 'cyan' : 'red' }
}

const gap = '  '

function laidOut(lines: readonly Line[], width: number, paint: Paint): string[] {
  const sizes = [0, 1, 2].map((i) => Math.max(0, ...lines.map(({ figures }) => textWidth(figures[i] ?? ''))))
  const right = sizes.filter((size) => size > 0).reduce((sum, size) => sum + size + gap.length, 0)
  const room = Math.max(20, width - right)
  return lines.map(({ left, figures }) => {
    let used = 0
    const text = left
      .map((part) => {
        const shown = cut(oneLineKept(part.text), Math.max(0, room - used))
        used += textWidth(shown)
        return part.colour === undefined ? shown : paint(part.colour, shown)
      })
      .join('')
    const columns = figures.map((figure, i) => {
      const size = sizes[i] ?? 0
      return size === 0 ? '' : gap + ' '.repeat(size - textWidth(figure)) + figure
    })
    return `${text}${' '.repeat(Math.max(0, room - used))}${columns.join('')}`.trimEnd()
  })
}

/** A part in one line, with the spaces that it begins with. */
const oneLineKept = (text: string): string => {
  const spaces = /^ */.exec(text)?.[0] ?? ''
  return /[^ \u2500-\u257f]/.test(text) ? spaces + oneLine(text) : text
}

const useWords: Readonly<Record<string, string>> = {
  human: 'waiting for people',
  tool: 'tools',
  model: 'models',
  child: 'waiting for others',
  queue: 'messages in the queue',
  unaccounted: 'unaccounted',
}

function timeLine(top: TraceNode, now: number): string {
  const spent = timeSpent(top, now)
  const parts = [...timeUses, 'unaccounted' as const]
    .filter((use) => spent[use] > 0)
    .map((use) => `${useWords[use]} ${elapsed(spent[use])}`)
  return `${elapsed(spent.total)}: ${parts.join(' · ')}`
}
