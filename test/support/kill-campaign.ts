import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { verifyJournal } from '../../src/adapters/jsonl/verify.ts'
import type { Client } from '../../src/client/client.ts'
import { AppError } from '../../src/contract/errors.ts'
import { startDaemonProcess } from './daemon-process.ts'
import { seeded } from './random.ts'
import { sessionDrafts } from './temp-engine.ts'

export type KillResult = { kills: number; acknowledged: number; stored: number; recoveries: number }

const reporters = 4
const batchSize = 5

/** Events that are acknowledged at most before the daemon is killed. */
const mostPerLife = 200

/** One reporter: sends numbered batches and keeps what was acknowledged, as a hook relay would. */
type Reporter = {
  readonly id: string
  readonly session: ReturnType<typeof sessionDrafts>
  next: number
  started: boolean
  readonly acknowledged: Set<string>
}

/**
 * Reporters send batches while the daemon is killed again and again. In the end every acknowledged event is there
 * once, every batch is there whole or not at all, seq has no gap, and the index agrees with the journal.
 */
export async function killCampaign(options: {
  home: string
  kills: number
  seed: number
  onKill?: (n: number, acknowledged: number) => void
}): Promise<KillResult> {
  const random = seeded(options.seed)
  const all: Reporter[] = Array.from({ length: reporters }, (_, i) => ({
    id: `reporter-${i}`,
    session: sessionDrafts(),
    next: 0,
    started: false,
    acknowledged: new Set(),
  }))
  for (let kill = 1; kill <= options.kills; kill++) {
    const daemon = await startDaemonProcess(options.home)
    const stop = new AbortController()
    const working = all.map((reporter) => report(reporter, daemon.client, stop.signal))
    // By what was acknowledged, not by time: a kill is in the middle of the work however fast the machine is.
    const enough = acknowledgedBy(all) + random() ** 2 * mostPerLife
    const isOver = Promise.all(working).then(() => true)
    while (acknowledgedBy(all) < enough && !(await Promise.race([isOver, sleep(2, false)])));
    await sleep(random() * 20)
    await daemon.kill('SIGKILL')
    stop.abort()
    await isOver
    options.onKill?.(kill, acknowledgedBy(all))
  }
  const daemon = await startDaemonProcess(options.home)
  const result = await check(all, daemon.client, options)
  await daemon.kill('SIGTERM')
  const { damage } = await verifyJournal(join(options.home, 'journal'))
  if (damage.length > 0) throw new Error(`damaged: ${JSON.stringify(damage[0])}`)
  return result
}

const acknowledgedBy = (all: readonly Reporter[]): number =>
  all.reduce((sum, one) => sum + one.acknowledged.size, 0)

/** Sends until the daemon is gone. What was not answered is sent again to the next daemon with the same numbers. */
async function report(reporter: Reporter, client: Client, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const n = reporter.next
    const names = Array.from({ length: batchSize }, (_, i) => `${reporter.id}/${n}/${i}`)
    const drafts = names.map((name, i) =>
      n === 0 && i === 0 ? reporter.session.started() : reporter.session.note(name),
    )
    try {
      const producer = { id: reporter.id, epoch: 1, n: n * batchSize + 1 }
      const { results } = await client.appendEvents(
        { producer, events: drafts },
        { signal, timeoutMs: 60_000 },
      )
      const refused = results.find((result) => result.status === 'rejected')
      if (refused) throw new Error(`refused: ${JSON.stringify(refused)}`)
      for (const name of names) reporter.acknowledged.add(name)
      reporter.next += 1
    } catch (error) {
      if (signal.aborted || isGone(error)) return
      throw error
    }
  }
}

const isGone = (error: unknown): boolean =>
  (error instanceof AppError && ['unavailable', 'timeout'].includes(error.code)) ||
  (error as Error).name === 'AbortError'

async function check(
  all: readonly Reporter[],
  client: Client,
  { kills }: { kills: number },
): Promise<KillResult> {
  const seen = new Map<string, number>()
  let recoveries = 0
  let last = 0
  for (;;) {
    const { events } = await client.listEvents({ after: last, limit: 1000 })
    if (events.length === 0) break
    for (const event of events) {
      if (event.seq !== last + 1) throw new Error(`seq ${last} is followed by ${event.seq}`)
      last = event.seq
      if (event.type === 'journal.recovered') recoveries += 1
      const message = (event.payload as { message?: string }).message
      if (message) seen.set(message, (seen.get(message) ?? 0) + 1)
    }
  }
  for (const reporter of all) checkReporter(reporter, seen)
  await checkIndex(client, last, all)
  return { kills, acknowledged: acknowledgedBy(all), stored: last, recoveries }
}

function checkReporter(reporter: Reporter, seen: ReadonlyMap<string, number>): void {
  for (let n = 0; n <= reporter.next; n++) {
    const names = Array.from({ length: batchSize }, (_, i) => `${reporter.id}/${n}/${i}`).slice(
      n === 0 ? 1 : 0,
    )
    const found = names.filter((name) => seen.has(name)).length
    if (found !== 0 && found !== names.length)
      throw new Error(`half a batch: ${names.join(' ')} has ${found}`)
    for (const name of names) {
      const times = seen.get(name) ?? 0
      if (times > 1) throw new Error(`${name} is there ${times} times`)
      if (times === 0 && reporter.acknowledged.has(name))
        throw new Error(`${name} was acknowledged and is lost`)
    }
  }
}

async function checkIndex(client: Client, last: number, all: readonly Reporter[]): Promise<void> {
  for (;;) {
    const { followers } = await client.doctor({})
    if (followers.find((follower) => follower.name === 'index')?.seq === last) break
    await sleep(50)
  }
  for (const reporter of all) {
    if (reporter.next === 0) continue
    const { events } = await client.listEvents({ session: reporter.session.sessionId, limit: 1000, after: 0 })
    const row = await client.getSession({ id: reporter.session.sessionId })
    if (events.length === 0 || row.id !== reporter.session.sessionId)
      throw new Error(`the index does not know ${reporter.session.sessionId}`)
  }
}
