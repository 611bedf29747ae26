import { frameUpdate } from '../src/cli/tui/screen.ts'
import { openModel } from '../src/cli/watch/model.ts'
import { paint } from '../src/cli/watch/paint.ts'
import { reduce } from '../src/cli/watch/reduce.ts'
import type { SessionView } from '../src/contract/session-views.ts'
import { approvalView, noon, sessionView } from '../test/support/watch-views.ts'
import type { Figure } from './support/figure.ts'

export const about =
  'sm watch with 200 sessions on 120×40: from a key, or from fresh data, to what is written to the terminal'

const sessions = 200
const rounds = 2000
const keys = [
  'j',
  'j',
  'k',
  '<pagedown>',
  '<pageup>',
  'G',
  'g',
  'f',
  'f',
  '<tab>',
  '/',
  'e',
  '1',
  '<bs>',
  '<esc>',
  '?',
  '<esc>',
]

export async function run(): Promise<Figure[]> {
  const fleet = Array.from({ length: sessions }, (_, i) => one(i, 0))
  const approvals = fleet
    .filter(({ pending_approvals }) => pending_approvals > 0)
    .map((view) => approvalView(view))
  let model = openModel({ now: noon, size: { columns: 120, rows: 40 }, color: true, seen: new Set() })
  model = reduce(model, { kind: 'loaded', sessions: fleet, hidden: 0, approvals }).model
  let shown = paint(model)
  let bytes = 0
  const frame = (): void => {
    const next = paint(model)
    bytes += frameUpdate(shown, next).length
    shown = next
  }
  const onKeys: number[] = []
  for (let i = 0; i < rounds; i++) {
    const start = performance.now()
    model = reduce(model, { kind: 'key', key: keys[i % keys.length] ?? 'j' }).model
    frame()
    onKeys.push(performance.now() - start)
  }
  const perKey = Math.round(bytes / rounds)
  const onData: number[] = []
  for (let i = 0; i < rounds / 10; i++) {
    // Each load is new objects, as an answer of the daemon is, and every tenth session has changed.
    const fresh = fleet.map((_, n) => one(n, n % 10 === i % 10 ? i : 0))
    const start = performance.now()
    model = reduce(model, { kind: 'loaded', sessions: fresh, hidden: 0, approvals }).model
    frame()
    onData.push(performance.now() - start)
  }
  return [
    percentile('a key, p50', onKeys, 0.5),
    { ...percentile('a key, p99', onKeys, 0.99), atMost: 50 },
    percentile('fresh data, p50', onData, 0.5),
    { ...percentile('fresh data, p99', onData, 0.99), atMost: 50 },
    { what: 'written per key', value: perKey, unit: 'bytes' },
  ]
}

const states = ['running', 'idle', 'waiting_input', 'running', 'completed'] as const

/** Trees of ten: a parent, and nine below it. */
function one(n: number, change: number): SessionView {
  const status = states[(n + change) % states.length] ?? 'running'
  const parent = n % 10 === 0 ? null : sessionView(n - (n % 10)).session_id
  return sessionView(n, {
    friendly_name: `engineer-task-${n}`,
    status,
    parent_session_id: parent,
    pending_approvals: status === 'waiting_input' ? 1 : 0,
    current_task: `Task ${n}: 認証 the login form, its tests and the guide ✅ (${change})`,
    cost_usd: n / 10,
    context_percent: n % 100,
    completed_at: status === 'completed' ? new Date(noon).toISOString() : null,
  })
}

function percentile(what: string, times: readonly number[], at: number): Figure {
  const sorted = times.toSorted((a, b) => a - b)
  const ms = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? Number.NaN
  return { what, value: Math.round(ms * 100) / 100, unit: 'ms' }
}
