import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { DiskReader } from '../adapters/jsonl/disk-reader.ts'
import { layout, listSegments } from '../adapters/jsonl/format.ts'
import { removeDatabase } from '../adapters/sqlite/database.ts'
import { openIndex } from '../adapters/sqlite/index-writer.ts'
import { openSearch } from '../adapters/sqlite/search-writer.ts'
import { AppError } from '../contract/errors.ts'
import { searchText } from '../core/projections/event-text.ts'
import { project } from '../core/projections/project.ts'
import { unreadable } from '../engine/react.ts'
import type { Follower, Opened } from '../ports/index.ts'
import type { StoredEvent } from '../ports/journal.ts'
import type { FollowerReport, IndexCommand, IndexThreadData } from './index-thread.ts'

const { journal, index, search } = workerData as IndexThreadData
const batchEvents = 5000
const searchBatchEvents = 1000
/** Words are found so much later than rows: many small steps would cost more than they are worth. */
const searchEveryMs = 200
const retryMs = 1000

let segments = listSegments(layout(journal).segments)
const reader = new DiskReader(() => segments, 4 << 20)
let watermark = 0
let stopping = false
let rebuilding = false
/** How far each follower has come, with what it could not read at the end: there is no event to move it there. */
const passed = new Map<Follower, number>()
// Set by every message: one that comes between the last look and the sleep must not be slept over.
let told = false
let wake: () => void = () => {}

parentPort?.on('message', (command: IndexCommand) => {
  if ('watermark' in command) watermark = Math.max(watermark, command.watermark)
  else if ('rebuild' in command) rebuilding = true
  else stopping = true
  told = true
  wake()
})

await run()
parentPort?.close()

async function run(): Promise<void> {
  let followers = await open()
  let searchAt = 0
  while (!stopping) {
    told = false
    if (rebuilding) {
      rebuilding = false
      for (const { follower } of followers) follower.close()
      removeDatabase(index)
      removeDatabase(search)
      followers = await open()
      report({ name: 'index', seq: 0, parked: [], rebuilt: true })
    }
    const [rows, texts] = followers
    // Search takes a turn only when the rows are up to date: it must not slow them.
    if (await step(rows)) await turn()
    else if (told) continue
    else if (performance.now() < searchAt) await idle(searchAt - performance.now())
    else if (await step(texts)) searchAt = isBehind([texts]) ? 0 : performance.now() + searchEveryMs
    else if (!told && !isBehind(followers)) await idle()
  }
  for (const { follower } of followers) follower.close()
}

type Named = { readonly name: FollowerReport['name']; readonly follower: Follower; readonly batch: number }

async function open(): Promise<[Named, Named]> {
  const rows = await openSound(index, () => openIndex(index, project))
  const texts = await openSound(search, () => openSearch(search, searchText))
  report({ name: 'index', seq: rows.position().seq, parked: [] })
  report({ name: 'search', seq: texts.position().seq, parked: [] })
  return [
    { name: 'index', follower: rows, batch: batchEvents },
    { name: 'search', follower: texts, batch: searchBatchEvents },
  ]
}

/** A file that is damaged, newer than this code, or not of this journal is built again: the journal has it all. */
async function openSound(path: string, open: () => Opened<Follower>): Promise<Follower> {
  let opened = open()
  if (opened.ok && !(await isOfThisJournal(opened.follower))) {
    opened.follower.close()
    removeDatabase(path)
    opened = open()
  }
  if (!opened.ok) {
    removeDatabase(path)
    opened = open()
  }
  if (!opened.ok) throw new Error(`${path} cannot be opened: ${opened.detail}`)
  return opened.follower
}

async function isOfThisJournal(follower: Follower): Promise<boolean> {
  const { seq, id } = follower.position()
  if (seq === 0) return true
  const [event] = await reader.page(seq - 1, 1, seq)
  return event?.seq === seq && (id === null || event.event.id === id)
}

function positionOf(follower: Follower): number {
  return Math.max(follower.position().seq, passed.get(follower) ?? 0)
}

async function step({ name, follower, batch }: Named): Promise<boolean> {
  const seq = positionOf(follower)
  const end = watermark
  if (seq >= end) return false
  let page = await reader.page(seq, batch, end)
  if (page.length === 0) {
    segments = listSegments(layout(journal).segments)
    page = await reader.page(seq, batch, end)
  }
  const holes = holesIn(page, seq, end)
  if (page.length === 0) {
    passed.set(follower, end)
    report({ name, seq: end, parked: holes })
    return true
  }
  try {
    const applied = follower.apply(page.map((stored) => stored.event))
    report({ name, seq: follower.position().seq, parked: [...holes, ...applied.parked] })
    // Erased lines had left text in rows that only a new build is free of.
    if (applied.isStale) rebuilding = true
    return true
  } catch (error) {
    if (isCorrupt(error)) {
      rebuilding = true
      return true
    }
    // A full or failing disk: the journal has everything, so waiting and trying again loses nothing.
    report({ name, seq, parked: [], error: String(error) })
    await sleep(retryMs)
    return false
  }
}

/** What is missing in a page: it has no rows, and nobody is to think that there was nothing. */
function holesIn(page: readonly StoredEvent[], after: number, end: number): FollowerReport['parked'] {
  const holes: { seq: number; error: string }[] = []
  let seq = after
  for (const to of [...page.map((stored) => stored.seq - 1), ...(page.length === 0 ? [end] : [])]) {
    if (to > seq) holes.push({ seq: seq + 1, error: unreadable(seq + 1, to) })
    seq = to + 1
  }
  return holes
}

function isBehind(followers: readonly Named[]): boolean {
  return followers.some(({ follower }) => positionOf(follower) < watermark)
}

function isCorrupt(error: unknown): boolean {
  return (
    error instanceof AppError && (error.details as { problem?: string } | undefined)?.problem === 'corrupt'
  )
}

function report(message: FollowerReport): void {
  parentPort?.postMessage(message)
}

/** Until something is told, or for so long. */
function idle(mostMs?: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = mostMs === undefined ? undefined : setTimeout(resolve, mostMs)
    wake = () => {
      clearTimeout(timer)
      resolve()
    }
  })
}
