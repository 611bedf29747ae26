import { statfsSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Journal } from '../adapters/jsonl/journal.ts'
import type { Check, Health, SelfReport } from '../contract/health.ts'
import type { Engine } from '../engine/engine.ts'
import type { ReactorReport } from '../engine/react.ts'

type Observed = {
  readonly health: () => Health
  readonly startedAtMs: number
  readonly now: () => number
  readonly journal: Journal
  readonly engine: Engine
  readonly followers: () => readonly ReactorReport[]
  readonly queues: () => Record<string, number>
  readonly sseClients: () => number
  readonly home: string
}

const sampleMs = 10
const lowDiskBytes = 1 << 30
const lagEvents = 100_000

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
      return { ...report, checks: checksOf(report, observed.home) }
    },
    stop: () => delay.disable(),
  }
}

function checksOf(report: Omit<SelfReport, 'checks'>, home: string): Check[] {
  const stats = statfsSync(home)
  const free = stats.bavail * stats.bsize
  const parked = report.followers.reduce((sum, f) => sum + f.parked.length, 0)
  const lag = Math.max(0, ...report.followers.filter((f) => f.name === 'index').map((f) => f.lag))
  const check = (name: string, problem: string | undefined, detail: string, cure?: string): Check =>
    problem === undefined
      ? { name, status: 'ok', detail }
      : { name, status: 'warning', detail: problem, ...(cure && { cure }) }
  const journal: Check =
    report.health.journal === 'ok'
      ? { name: 'journal', status: 'ok', detail: `${report.health.seq} events, writing` }
      : {
          name: 'journal',
          status: 'failed',
          detail:
            report.health.journal === 'full'
              ? 'the disk is full: only endings are written'
              : 'the last write failed',
          cure:
            report.health.journal === 'full'
              ? 'free some disk space; the daemon goes on by itself'
              : 'sm doctor tells why; then: sm up',
        }
  const stuck = report.followers.find((f) => f.error !== undefined)
  return [
    journal,
    check(
      'followers',
      stuck && `${stuck.name}: ${stuck.error}`,
      'all get on',
      'it tries again by itself; see the disk check',
    ),
    check(
      'disk',
      free < lowDiskBytes ? `${mb(free)} MB free` : undefined,
      `${mb(free)} MB free`,
      'free some disk space',
    ),
    check(
      'index',
      lag > lagEvents ? `${lag} events behind` : undefined,
      `${lag} events behind`,
      'wait; it catches up by itself',
    ),
    check(
      'parked events',
      parked > 0 ? `${parked} set aside` : undefined,
      'none',
      'sm journal rebuild-index after an upgrade',
    ),
    { name: 'redaction', status: 'ok', detail: redacted(report.redaction) },
    check(
      'event loop',
      report.loopLagMs.p99 > 200 ? `p99 ${report.loopLagMs.p99} ms` : undefined,
      `p99 ${report.loopLagMs.p99} ms`,
    ),
  ]
}

function redacted(counts: Readonly<Record<string, number>>): string {
  const total = Object.values(counts).reduce((sum, n) => sum + n, 0)
  const most = Object.entries(counts)
    .sort((a, b) => b[1] - a[1])
    .slice(0, 5)
  return total === 0
    ? 'no secret met since the start'
    : `${total} taken out since the start: ${most.map(([rule, n]) => `${rule} ${n}`).join(', ')}`
}

const mb = (bytes: number): number => Math.round(bytes / 1e6)
