import { Config } from '../../src/contract/config.ts'
import type { Draft } from '../../src/contract/event.ts'
import type { Signal } from '../../src/contract/signal.ts'
import type { Evidence } from '../../src/core/session/evidence/evidence.ts'
import type { Verdict } from '../../src/core/session/evidence/verdict.ts'
import { shownNow } from '../../src/core/session/session-view.ts'
import { agentCliAdapters } from '../../src/daemon/agent-cli-adapters.ts'
import { Engine } from '../../src/engine/engine.ts'
import { draftOf } from '../../src/engine/sessions/drafts.ts'
import type { Parts } from '../../src/engine/sessions/session-parts.ts'
import { type Origin, SessionWatch } from '../../src/engine/sessions/session-watch.ts'
import type { Clock } from '../../src/ports/clock.ts'
import { ids } from '../support/temp-engine.ts'
import type { CorpusCase } from './corpus-case.ts'

/** What a session was shown as at the end of a case, and why. */
export type Shown = ReturnType<typeof shownNow> & {
  readonly lifecycle: SessionWatch['shown']
  readonly verdict: Verdict
  readonly evidence: Evidence
  /** When it was looked at, and since when the daemon had followed it if that was not from the beginning. */
  readonly nowMs: number
  readonly resumedAtMs: number | undefined
}

// Far from zero, as real times are.
const epoch = 1_794_769_000_000

/**
 * Lets one session live through a case: an engine, its journal in memory, and a watch that is told each signal at its
 * time, while its own timers run. A daemon that came later is another watch on the same engine, which is told the
 * record again.
 */
export async function shownIn(one: CorpusCase, settings: Config['child_agents']): Promise<Shown> {
  const signals = one.signals.map(later)
  const { startedAt = 0, resumedAt, downAt = resumedAt, sleptUntil } = one.config ?? {}
  const firstAt = Math.min(startedAt, ...one.signals.map(({ at }) => at - 1000), one.now)
  const [resumedMs, awakeMs, nowMs] = [resumedAt, sleptUntil, one.now].map((at) =>
    at === undefined ? undefined : at + epoch,
  )
  const untilMs = nowMs ?? epoch
  const time = clockAt(epoch + firstAt)
  const parts = partsOf(time.clock, settings)
  await begin(parts, one)
  const live = async (told: readonly Signal[], endMs: number): Promise<SessionWatch> => {
    const [state] = [...parts.engine.sessions()]
    if (!state) throw new Error(`the session of ${one.name} is not open`)
    const watch = new SessionWatch(parts, state, { changed: () => {}, lookAt: () => {} })
    for (const signal of told) {
      if (awakeMs !== undefined && signal.at >= awakeMs) time.sleepTo(awakeMs)
      // One that a clock ahead has dated tomorrow has come today.
      await time.passTo(Math.min(signal.at, endMs), watch)
      await watch.take([signal], originOf(signal, signals.indexOf(signal)))
    }
    if (awakeMs !== undefined) time.sleepTo(awakeMs)
    await time.passTo(endMs, watch)
    watch.stop()
    return watch
  }
  let rest = signals
  if (resumedMs !== undefined && downAt !== undefined) {
    const downMs = downAt + epoch
    await live(
      signals.filter(({ at }) => at < downMs),
      downMs,
    )
    await time.passTo(resumedMs)
    rest = signals.filter(({ at, source }) => at >= resumedMs || source === 'transcript')
  }
  const watch = await live(rest, untilMs)
  const { verdict, evidence } = watch
  const lifecycle = watch.shown
  const resumedAtMs = resumedMs ?? awakeMs
  return { ...shownNow(lifecycle, verdict), lifecycle, verdict, evidence, nowMs: untilMs, resumedAtMs }
}

function later(signal: Signal): Signal {
  const at = signal.at + epoch
  if (signal.kind !== 'turn-failed' || signal.limit?.resetsAtMs === undefined) return { ...signal, at }
  return { ...signal, at, limit: { resetsAtMs: signal.limit.resetsAtMs + epoch } }
}

/** A record is numbered by its lines; what a hook tells is told once; what the daemon sees is its own. */
function originOf({ source }: Signal, n: number): Origin | undefined {
  if (source === 'hook') return { via: 'hook' }
  return source === 'transcript' ? { via: 'transcript', told: { producer: 'record', n: n + 1 } } : undefined
}

/** Time that passes only when it is told to; whoever sleeps is awake on time, one after the other. */
function clockAt(startMs: number) {
  let now = startMs
  let sleptMs = 0
  let sleeping: { readonly atMs: number; readonly wake: () => void }[] = []
  const clock: Clock = {
    now: () => now,
    monotonic: () => now - sleptMs,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const one = { atMs: now + ms, wake: resolve }
        sleeping.push(one)
        signal.addEventListener('abort', () => {
          sleeping = sleeping.filter((other) => other !== one)
          reject(signal.reason as Error)
        })
      }),
  }
  return {
    clock,
    async passTo(atMs: number, watch?: SessionWatch): Promise<void> {
      for (;;) {
        const [next] = sleeping.toSorted((a, b) => a.atMs - b.atMs)
        if (!next || next.atMs > atMs) break
        sleeping = sleeping.filter((other) => other !== next)
        now = Math.max(now, next.atMs)
        next.wake()
        await new Promise((resolve) => setImmediate(resolve))
        await watch?.take([])
      }
      now = Math.max(now, atMs)
      await watch?.take([])
    },
    /** Nothing runs meanwhile, and only one of the two clocks. */
    sleepTo(atMs: number): void {
      if (atMs <= now) return
      sleptMs += atMs - now
      sleeping = sleeping.map((one) => ({ ...one, atMs: one.atMs + (atMs - now) }))
      now = atMs
    },
  }
}

function partsOf(clock: Clock, settings: Config['child_agents']): Parts {
  let seq = 1
  const engine = new Engine({
    journal: {
      nextSeq: () => seq,
      append: async (lines) => {
        seq += lines.length
      },
      health: () => 'ok',
      reopen: async () => {},
    },
    blobs: { put: async () => '', get: async () => undefined } as never,
    clock,
    ids,
    redact: (value) => ({ value, paths: [], counts: {} }),
    endedSession: async () => undefined,
  })
  const config = { ...Config.parse({}), child_agents: settings }
  return {
    engine,
    clock,
    ids,
    clis: agentCliAdapters({}),
    config: () => config,
    prices: { estimate: () => undefined, knows: () => false },
    onBug: (error: unknown) => {
      throw error
    },
  } as unknown as Parts
}

/** Its program runs in its terminal, and has not shown anything yet. */
async function begin({ engine }: Parts, { cli, version, config }: CorpusCase): Promise<void> {
  const root = {
    sessionId: ids.session(),
    traceId: ids.trace(),
    runId: ids.run(),
    spanId: ids.span(),
    actor: 'corpus',
  }
  const place = {
    socket: 's',
    serverId: 'x',
    tmuxSession: 't',
    terminalId: '$1',
    paneId: '%1',
    pid: 2,
  }
  const { startedWith: preview } = config ?? {}
  const message = { ...root, spanId: ids.span(), parentSpanId: root.spanId }
  const drafts: Draft[] = [
    draftOf(root, 'session.started', { name: 'corpus', origin: 'managed', cli, workingDir: '/', depth: 0 }),
    ...(preview === undefined
      ? []
      : [draftOf(message, 'message.queued', { messageId: 'msg', to: 'corpus', by: 'launch', preview })]),
    draftOf(root, 'session.launched', { ...place, cli, cliVersion: version, program: cli }),
    draftOf(root, 'session.state.changed', { from: 'spawned', to: 'starting' }),
  ]
  await engine.perform(drafts)
}
