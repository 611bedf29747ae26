import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { daemonCommands, sshForward } from '../../src/cli/commands/daemon.ts'
import { journalCommands } from '../../src/cli/commands/journal.ts'
import { logCommands } from '../../src/cli/commands/log.ts'
import type { Client } from '../../src/client/client.ts'
import { AppError } from '../../src/contract/errors.ts'
import { logRead } from '../../src/daemon/offline/session-files.ts'
import { temporaryFolder } from './run-sm.ts'
import { type Answers, collect, world } from './world.ts'

const { doctor, open } = daemonCommands
const { 'journal tail': journalTail, 'journal import': journalImport } = journalCommands
const { 'log export': logExport, 'log import': logImport } = logCommands

const event = (seq: number) => ({ seq, type: 'progress.checkpoint' }) as never

describe('journal tail', () => {
  /** A journal of 2,500 events that answers at most 1,000 at a time. */
  const asked: unknown[] = []
  const listEvents: Client['listEvents'] = async (input) => {
    asked.push(input)
    const before = Math.min(input.before ?? 2501, 2501)
    const limit = input.limit ?? 100
    const first = Math.max(1, before - limit)
    return {
      events: Array.from({ length: before - first }, (_, i) => event(first + i)),
      oldest: 1,
      seq: 2500,
    }
  }
  const tail = (more: Record<string, unknown>, client: Partial<Client> = {}) =>
    collect(
      journalTail.run(
        { follow: false, type: [], session: undefined, lines: 20, ...more },
        world({ client: { listEvents, ...client } }).io,
      ),
    )

  test('[MUS-125] prints the last events, oldest first, in as many pages as it takes', async () => {
    expect((await tail({})).map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, i) => 2481 + i))
    const many = await tail({ lines: 2200 })
    expect(many).toHaveLength(2200)
    expect([many[0]?.seq, many.at(-1)?.seq]).toEqual([301, 2500])
    expect(await tail({ lines: 9999 })).toHaveLength(2500)
    expect(await tail({ lines: 0 })).toEqual([])
  })

  test('[MUS-125] with --follow it goes on where the journal stood, for the named session and types', async () => {
    const streamed: unknown[] = []
    const followed = await tail(
      { follow: true, lines: 2, type: ['a.b', 'c.d'], session: 'engineer' },
      {
        getSession: async () => ({ id: `ses_${'0'.repeat(26)}` }) as never,
        streamEvents: async function* (input) {
          streamed.push(input)
          yield { id: '2501.0', event: 'progress.checkpoint', data: event(2501) }
          yield { id: '2502.0', event: 'resync', data: {} }
          yield { id: '2600.0', event: 'progress.checkpoint', data: event(2600) }
        },
      },
    )
    expect(followed.map(({ seq }) => seq)).toEqual([2499, 2500, 2501, 2600])
    expect(streamed).toEqual([{ after: '2500', type: 'a.b,c.d', session: `ses_${'0'.repeat(26)}` }])
    expect(asked.at(-1)).toEqual({ type: 'a.b,c.d', session: 'engineer', limit: 2 })
  })
})

describe('journal import', () => {
  test('[MUS-124] sends exported lines as drafts under a producer of the file, and tells what became of each', async () => {
    const file = join(temporaryFolder(), 'export.jsonl')
    const line = (n: number) =>
      JSON.stringify({
        seq: n,
        id: `evt_${n}`,
        type: 'x',
        payload: {},
        recordedAt: 'r',
        schemaVersion: '1',
        redacted: [],
      })
    writeFileSync(
      file,
      [line(1), '', 'no json', ...Array.from({ length: 600 }, (_, i) => line(i + 2))].join('\n'),
    )
    const sent: Parameters<Client['appendEvents']>[0][] = []
    const { io } = world({
      client: {
        appendEvents: async (request) => {
          sent.push(request)
          return {
            results: request.events.map((one, i) =>
              typeof one === 'string'
                ? { status: 'rejected', code: 'invalid', message: 'no event' }
                : i === 0
                  ? { status: 'duplicate' }
                  : { status: 'appended', seq: 1, id: 'evt_1' as never },
            ),
          }
        },
      },
    })
    const [result] = await collect(journalImport.run({ file }, io))
    expect(result).toEqual({
      appended: 599,
      duplicates: 2,
      rejected: [{ line: 3, code: 'invalid', message: 'no event' }],
    })
    expect(journalImport.exitCode?.(result as never)).toBe(1)
    expect(sent.map(({ producer, events }) => [producer?.n, events.length])).toEqual([
      [1, 500],
      [501, 102],
    ])
    expect(new Set(sent.map(({ producer }) => producer?.id)).size).toBe(1)
    expect(sent[0]?.producer?.id).toMatch(/^import:[0-9a-f]{32}$/)
    expect(sent[0]?.events.slice(0, 2)).toEqual([{ id: 'evt_1', type: 'x', payload: {} }, 'no json'])
  })
})

describe('session files', () => {
  test('[MUS-157] a folder is imported file by file, and one that is refused does not stop the others', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'deep'))
    writeFileSync(join(folder, 'deep', 'b.json'), '{"b":1}')
    writeFileSync(join(folder, 'a.json'), 'not json')
    writeFileSync(join(folder, 'notes.txt'), '')
    const importLog: Client['importLog'] = async ({ filename }) => {
      if (filename === 'c.json') throw new AppError('invalid', 'not a session file')
      return { sessionId: 'ses_x' as never, shortId: '1749a2fe', events: 4, repairs: [], duplicate: false }
    }
    writeFileSync(join(folder, 'c.json'), '{}')
    const [files = []] = await collect(
      logImport.run({ files: [folder] }, world({ client: { importLog }, offline: { logRead } }).io),
    )
    expect(files.map(({ file, refused }) => [file.slice(folder.length + 1), refused?.code])).toEqual([
      ['a.json', 'invalid'],
      ['c.json', 'invalid'],
      ['deep/b.json', undefined],
    ])
    expect(logImport.exitCode?.(files)).toBe(1)
  })

  test('[MUS-158] an export takes its own name in a folder, and never replaces a file', async () => {
    const exportLog: Client['exportLog'] = async () => ({
      filename: 'x-multi.json',
      kind: 'std-008',
      document: { a: 1 },
    })
    const { io } = world({ client: { exportLog } })
    const [printed] = await collect(logExport.run({ session: 's', out: undefined }, io))
    expect(logExport.render(printed as never, {} as never, {} as never)).toBe('{\n  "a": 1\n}')
    const [written] = await collect(logExport.run({ session: 's', out: '.' }, io))
    expect(written?.written).toBe(join(io.cwd, 'x-multi.json'))
    expect(JSON.parse(readFileSync(join(io.cwd, 'x-multi.json'), 'utf8'))).toEqual({ a: 1 })
    await expect(collect(logExport.run({ session: 's', out: '.' }, io))).rejects.toMatchObject({
      code: 'conflict',
    })
  })
})

describe('doctor', () => {
  const found = [
    { name: 'home', status: 'ok', detail: 'there' },
    { name: 'disk', status: 'ok', detail: 'seen from outside' },
  ] as const
  const offline = { doctor: async () => found }

  test('[MUS-120] works without a daemon, with a slow one, and with a running one', async () => {
    const look = async (answers: Answers) =>
      (await collect(doctor.run({}, world({ offline, ...answers }).io)))[0]
    expect(await look({ state: 'down' })).toMatchObject({
      daemon: 'stopped',
      checks: [{ name: 'home' }, { name: 'disk' }],
    })
    const slow = await look({ state: 'slow' })
    expect(slow).toMatchObject({
      daemon: 'slow',
      checks: [{ name: 'home' }, { name: 'disk' }, { name: 'daemon', status: 'failed' }],
    })
    expect(doctor.exitCode?.(slow as never)).toBe(1)
    const checks = [
      { name: 'index', status: 'warning', detail: 'behind' },
      { name: 'disk', status: 'ok', detail: 'seen from inside' },
    ]
    const inside = { name: 'hooks', status: 'ok', detail: 'they answer' }
    const daemon = { doctor: async () => ({ checks }) as never }
    const well = await look({
      client: { ...daemon, checkSessions: async () => ({ checks: [inside] }) as never },
    })
    expect(well).toEqual({ daemon: 'running', checks: [found[0], ...checks, inside] })
    const refuse = async () => Promise.reject(new AppError('denied', 'ask a person'))
    const asSession = await look({ client: { ...daemon, checkSessions: refuse } })
    expect(asSession).toEqual({ daemon: 'running', checks: [found[0], ...checks] })
    expect(doctor.exitCode?.(well as never)).toBe(0)
  })
})

describe('over SSH', () => {
  const env = { SSH_CONNECTION: '198.51.100.2 50000 203.0.113.7 22', USER: 'ada', DISPLAY: ':0' }

  test('[MUS-213] the line that forwards the port is made from the connection', () => {
    expect(sshForward('http://127.0.0.1:4711/', env)).toBe('ssh -L 4711:127.0.0.1:4711 ada@203.0.113.7')
    expect(sshForward('http://127.0.0.1:4711/', { ...env, SSH_CONNECTION: '1 2 203.0.113.7 2222' })).toBe(
      'ssh -L 4711:127.0.0.1:4711 -p 2222 ada@203.0.113.7',
    )
    expect(sshForward('http://127.0.0.1:4711/', {})).toBeUndefined()
  })

  test('[MUS-122] sm open prints the one-time link and starts no browser there', async () => {
    const url = 'http://127.0.0.1:4711/login?code=x'
    const { io } = world({ env, client: { createLoginLink: async () => ({ url }) } })
    const [opened] = await collect(open.run({ print: false }, io))
    expect(opened).toEqual({ url, opened: false, forward: 'ssh -L 4711:127.0.0.1:4711 ada@203.0.113.7' })
    expect(open.render(opened as never, {} as never, { print: false })).toBe(
      `First, on your own machine: ssh -L 4711:127.0.0.1:4711 ada@203.0.113.7\n${url}`,
    )
  })
})
