import { statfsSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Journal } from '../adapters/jsonl/journal.ts'
import type { Check, Health, SelfReport } from '../contract/health.ts'
import { shortId } from '../contract/ids.ts'
import type { Lapse } from '../core/fleet.ts'
import type { Engine } from '../engine/engine.ts'
import type { ReactorReport } from '../engine/react.ts'
import type { PollFault } from '../engine/sessions/polling.ts'

type Observed = {
  readonly health: () => Health
  readonly startedAtMs: number
  readonly now: () => number
  readonly journal: Journal
  readonly engine: Engine
  readonly followers: () => readonly ReactorReport[]
  readonly pollFaults: () => readonly PollFault[]
  readonly queues: () => Record<string, number>
  readonly sseClients: () => number
  readonly home: string
}

// Every sample wakes the process: more of them would be most of what an idle daemon costs.
const sampleMs = 100
const lowDiskBytes = 1 << 30
const lagEvents = 100_000
const slowLoopMs = 200

/** Watches the event loop and gathers what the daemon knows of itself. */
export function observe(observed: Observed): { report(): SelfReport; stop(): void } {
  const delay = monitorEventLoopDelay({ resolution: sampleMs })
  delay.enable()
  // The histogram holds the time between two samples, which is the pause itself when nothing is late.
  const ms = (nanos: number) => Math.max(0, Math.round(nanos / 1e4 - sampleMs * 100) / 100)
  return {
    report() {
      const seq = observed.journal.watermark()
      const followers = observed
        .followers()
        .map((f) => ({ ...f, parked: [...f.parked], lag: Math.max(0, seq - f.seq) }))
      const report = {
        health: observed.health(),
        uptimeMs: observed.now() - observed.startedAtMs,
        rssBytes: process.memoryUsage.rss(),
        loopLagMs: { p50: ms(delay.percentile(50)), p99: ms(delay.percentile(99)), max: ms(delay.max) },
        queues: observed.queues(),
        followers,
        sseClients: observed.sseClients(),
        redaction: { ...observed.engine.redactionCounts() },
      }
      const { home } = observed
      const lapse = lapseCheck(observed.engine.lapse(), observed.now())
      return { ...report, checks: [...checksOf(report, { home, faults: observed.pollFaults() }), lapse] }
    },
    stop: () => delay.disable(),
  }
}

function checksOf(
  report: Omit<SelfReport, 'checks'>,
  { home, faults }: { readonly home: string; readonly faults: readonly PollFault[] },
): Check[] {
  const stats = statfsSync(home)
  const free = stats.bavail * stats.bsize
  const parked = report.followers.reduce((sum, f) => sum + f.parked.length, 0)
  const lag = Math.max(0, ...report.followers.filter((f) => f.name === 'index').map((f) => f.lag))
  const stuck = report.followers.find((f) => f.error !== undefined)
  const { p99 } = report.loopLagMs
  return [
    journalCheck(report.health),
    judged({
      name: 'followers',
      isFine: stuck === undefined,
      detail: stuck ? `${stuck.name}: ${stuck.error}` : 'all are up to date',
      cure: 'it retries by itself; see the disk check',
    }),
    judged({
      name: 'disk',
      isFine: free >= lowDiskBytes,
      detail: `${mb(free)} MB free`,
      cure: 'free some disk space',
    }),
    judged({
      name: 'index',
      isFine: lag <= lagEvents,
      detail: `${lag} events behind`,
      cure: 'wait until it has caught up',
    }),
    judged({
      name: 'parked events',
      isFine: parked === 0,
      detail: parked === 0 ? 'none' : `${parked} set aside`,
      cure: 'sm journal rebuild-index after an upgrade',
    }),
    judged({
      name: 'polling',
      isFine: faults.length === 0,
      detail: faults.map(faultLine).join('; ') || 'every session is being watched',
      cure: 'it is retried every two seconds; the cause is in the daemon log',
    }),
    { name: 'redaction', status: 'ok', detail: redacted(report.redaction) },
    judged({
      name: 'event loop',
      isFine: p99 <= slowLoopMs,
      detail: `p99 ${p99} ms`,
      cure: 'find out what is using the CPU of this machine',
    }),
  ]
}

/** Long enough for whoever looks once a week to read it. */
const lapseShownMs = 14 * 86_400_000

/** Nobody can tell which of them were given again, so it is shown for a while. */
function lapseCheck(lapse: Lapse | undefined, now: number): Check {
  const { grants = 0, atMs = 0 } = lapse ?? {}
  const since = new Date(atMs).toISOString().slice(0, 10)
  return judged({
    name: 'permits',
    isFine: grants === 0 || now - atMs > lapseShownMs,
    detail:
      grants === 0
        ? 'all that were given are in force'
        : `${grants} of an older journal not in force since ${since}: it does not say who gave them`,
    cure: 'give them again when you are asked (sm approve --always), and budgets with sm budget',
  })
}

const faultLine = ({ sessionId, step, error }: PollFault): string =>
  `${step} of ${shortId(sessionId)} fails: ${error.slice(0, 200)}`

function journalCheck({ journal, seq, damage = [] }: Health): Check {
  switch (journal) {
    case 'ok':
      return { name: 'journal', status: 'ok', detail: `${seq} events, writing` }
    case 'damaged':
      return damagedCheck(damage)
    case 'full':
      return {
        name: 'journal',
        status: 'failed',
        detail: 'the disk is full: only endings are written',
        cure: 'free some disk space; the daemon then continues by itself',
      }
    case 'poisoned':
      return {
        name: 'journal',
        status: 'failed',
        detail: 'the last write failed; nothing is written until the journal is reopened',
        cure: 'check the disk; the next write reopens the journal, or run: sm down && sm up',
      }
  }
}

/** History that is damaged while new events are written as usual. */
export const damagedCheck = (damage: readonly string[]): Check => ({
  name: 'journal',
  status: 'failed',
  detail: `writing, but its past is damaged: ${damage.join('; ')}`,
  cure: 'see all of it with sm journal verify; restore the files from a backup, or accept the loss with sm journal verify --set-aside',
})

type Judgement = {
  readonly name: string
  readonly isFine: boolean
  readonly detail: string
  readonly cure: string
}

const judged = ({ name, isFine, detail, cure }: Judgement): Check =>
  isFine ? { name, status: 'ok', detail } : { name, status: 'warning', detail, cure }

function redacted(counts: Readonly<Record<string, number>>): string {
  const total = Object.values(counts).reduce((sum, n) => sum + n, 0)
  const rules = Object.entries(counts).sort((a, b) => b[1] - a[1])
  return total === 0
    ? 'no secrets found since the daemon started'
    : `${total} removed since the daemon started: ${rules.map(([rule, n]) => `${rule} ${n}`).join(', ')}`
}

const mb = (bytes: number): number => Math.round(bytes / 1e6)
