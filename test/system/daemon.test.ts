import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { verifyJournal } from '../../src/adapters/jsonl/verify.ts'
import { version, wireVersions } from '../../src/contract/version.ts'
import { type DaemonProcess, startDaemonProcess } from '../support/daemon-process.ts'
import { eventually } from '../support/session-daemon.ts'
import { exampleName, goldenText } from '../support/std-008.ts'
import { openEngine, operator, sessionDrafts } from '../support/temp-engine.ts'
import { openJournal, readAll, tempFolder } from '../support/temp-journal.ts'

/** A daemon on a new home, ended with the test. */
async function started(home = tempFolder()): Promise<DaemonProcess> {
  const daemon = await startDaemonProcess(home)
  onTestFinished(() => void daemon.kill('SIGKILL'))
  return daemon
}

const stored = async (home: string) => {
  const { journal } = await openJournal(join(home, 'journal'))
  const events = (await readAll(journal, 0, 1000)).map(({ event }) => event)
  await journal.close()
  return events
}

/** Waits until the index and the search have taken all that is written; before its first report a follower is not named. */
async function caughtUp({ client }: DaemonProcess): Promise<void> {
  const { seq } = await client.health({})
  await eventually(
    () => client.doctor({}),
    ({ followers }) =>
      ['index', 'search'].every((name) => followers.some((one) => one.name === name && one.seq >= seq)),
  )
}

/** Everything that views say: sessions, spans, runs, events, files, counts, search. */
async function views(daemon: DaemonProcess) {
  await caughtUp(daemon)
  const { client } = daemon
  const { sessions } = await client.listSessions({})
  const each = sessions.map(async ({ id }) => [
    await client.getSession({ id }),
    await client.listRuns({ id }),
    await client.listTrace({ id }),
    await client.exportLog({ id }),
  ])
  const { segments: _, snapshotSeq: __, seq: ___, bytes: ____, ...stats } = await client.journalStats({})
  return [await Promise.all(each), stats, await client.search({ q: 'authentication' })]
}

test('[MUS-1] of a home that has nothing but its journal every view comes back as it was', async () => {
  const daemon = await started()
  await daemon.client.importLog({ document: JSON.parse(goldenText(exampleName)), filename: exampleName })
  const live = sessionDrafts()
  const { results } = await daemon.client.appendEvents({
    events: [
      live.started(),
      live.draft('tool.call.started', { callId: 'c1', tool: 'Bash', params: { command: 'ls' } }),
      live.note('half way'),
    ],
    producer: { id: 'test', epoch: 0, n: 1 },
  })
  expect(results.map(({ status }) => status)).toEqual(['appended', 'appended', 'appended'])
  const before = await views(daemon)
  await daemon.kill('SIGTERM')
  for (const name of readdirSync(daemon.home))
    if (name !== 'journal') rmSync(join(daemon.home, name), { recursive: true })
  rmSync(join(daemon.home, 'journal', 'snapshots'), { recursive: true })
  const again = await started(daemon.home)
  expect(await views(again)).toEqual(before)
  // State too: the open call can be ended once, and what a producer told is known.
  const repeated = await again.client.appendEvents({
    events: [live.note('half way')],
    producer: { id: 'test', epoch: 0, n: 3 },
  })
  expect(repeated.results).toEqual([{ status: 'duplicate' }])
})

test('[MUS-86] a stop writes all that was accepted, snapshots it and frees the lock', async () => {
  const daemon = await started()
  const live = sessionDrafts()
  await daemon.client.appendEvents({ events: [live.started()] })
  const acknowledged: string[] = []
  const sender = async (name: number) => {
    for (let i = 0; ; i++) {
      const messages = Array.from({ length: 20 }, (_, n) => `${name}.${i}.${n}`)
      const { results } = await daemon.client.appendEvents({ events: messages.map(live.note) })
      results.forEach(({ status }, n) => status === 'appended' && acknowledged.push(messages[n] as string))
    }
  }
  const senders = Array.from({ length: 4 }, (_, i) => sender(i).catch(() => {}))
  await eventually(
    async () => acknowledged.length,
    (many) => many > 500,
  )
  expect(await daemon.kill('SIGTERM')).toBe(0)
  await Promise.all(senders)
  const snapshots = readdirSync(join(daemon.home, 'journal', 'snapshots')).sort()
  const events = await stored(daemon.home)
  const messages = new Set(events.map(({ payload }) => (payload as { message?: string }).message))
  expect(acknowledged.filter((message) => !messages.has(message))).toEqual([])
  expect(snapshots.at(-1)).toBe(`${String(events.length).padStart(12, '0')}.json`)
  expect(await verifyJournal(join(daemon.home, 'journal'))).toMatchObject({ damage: [], tail: undefined })
})

test.each([
  ['SIGTERM', 'SIGTERM'],
  ['SIGINT', 'SIGTERM'],
] as const)('[MUS-86] after %s a second signal (%s) ends it at once', async (first, second) => {
  const daemon = await started()
  const { hostname, port, host } = new URL(daemon.url)
  // A request that never ends keeps the stop waiting for its grace.
  const socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  const head = `POST /api/v1/events HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${daemon.token}\r\n`
  socket.write(`${head}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"events":`)
  await daemon.client.health({})
  daemon.process.kill(first)
  await eventually(
    async () => daemon.log(),
    (log) => log.includes('"stopping"'),
  )
  expect(await daemon.kill(second)).toBe(1)
  expect(daemon.log()).not.toContain('"stopped"')
})

test('[MUS-94][MUS-203] health is told to anybody, without the state folder; its path and the process only with a token', async () => {
  const daemon = await started()
  const { seq } = await daemon.client.health({})
  // The daemon may write while the folder is emptied.
  rmSync(daemon.home, { recursive: true, maxRetries: 20, retryDelay: 20 })
  const open = {
    name: 'muster',
    version,
    wire: { ...wireVersions },
    startedAt: expect.any(String),
    url: daemon.url,
    seq,
    journal: 'ok',
  }
  const ask = async (headers: Record<string, string> = {}) =>
    (await fetch(`${daemon.url}/api/v1/health`, { headers })).json()
  expect(await ask()).toEqual(open)
  const { pid } = daemon.process
  expect(await ask({ authorization: `Bearer ${daemon.token}` })).toEqual({ ...open, pid, home: daemon.home })
})

test('[MUS-211] the port that was chosen first is used again; another only while somebody else has it', async () => {
  const first = await started()
  await first.kill('SIGKILL')
  const second = await started(first.home)
  expect(second.url).toBe(first.url)
  await second.kill('SIGTERM')
  const { port } = new URL(first.url)
  const other = createServer().listen(Number(port), '127.0.0.1')
  await new Promise((resolve) => other.once('listening', resolve))
  const third = await started(first.home)
  expect(third.url).not.toBe(first.url)
  await third.kill('SIGTERM')
  await new Promise((resolve) => other.close(resolve))
  expect((await started(first.home)).url).toBe(third.url)
})

test('[MUS-44] a blob that is damaged or gone is named in its place, and everything else of its session is there', async () => {
  const home = tempFolder()
  const { engine, journal } = await openEngine(join(home, 'journal'))
  const live = sessionDrafts()
  const long = (word: string) => `${word} ${'x'.repeat(20_000)}`
  const call = (callId: string, params: Record<string, string>) =>
    live.draft('tool.call.started', { callId, tool: 'Write', params })
  const items = [live.started(), call('a', { text: long('kept') }), call('b', { text: long('lost') })]
  await engine.propose({ items, by: operator })
  await journal.close()
  const pack = join(home, 'journal', 'blobs', '000001.pack')
  const bytes = readFileSync(pack)
  bytes[bytes.length - 1] = 0
  writeFileSync(pack, bytes)
  const daemon = await started(home)
  const paramsOf = async () => {
    const { document } = await daemon.client.exportLog({ id: live.sessionId })
    const { tool_calls } = document as { tool_calls: { input: { params: { text: string } } }[] }
    return tool_calls.map(({ input }) => input.params.text)
  }
  await caughtUp(daemon)
  const damaged = await paramsOf()
  expect(damaged[0]).toBe(long('kept'))
  expect(damaged[1]).toMatch(
    /^lost x+\n\[the rest of this text of 20005 bytes is damaged in the journal: sha256:/,
  )
  rmSync(pack)
  expect((await paramsOf()).map((text) => text.includes('is missing in the journal'))).toEqual([true, true])
  const { events } = await daemon.client.listEvents({ limit: 10 })
  expect(JSON.stringify(events[2])).toContain('"preview":"lost xxx')
  expect(existsSync(pack)).toBe(false)
})
