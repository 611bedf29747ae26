import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { shortId } from '../../src/contract/short-id.ts'
import { emptyEnvironment, runProgram } from '../cli/run-sm.ts'
import { clientFor } from '../support/daemon-process.ts'
import { smProgram } from '../support/programs.ts'
import { shared, whenOver } from '../support/shared.ts'
import { sized } from '../support/size.ts'
import { exampleName, goldenText } from '../support/std-008.ts'
import { sessionDrafts } from '../support/temp-engine.ts'

const usual = shared(person)

const example = join(import.meta.dirname, '../golden/std-008', exampleName)

/** `sm` as a person has it: one home, and a daemon that is stopped when the test ends. */
async function person() {
  const env = emptyEnvironment({ NODE_NO_WARNINGS: '1' })
  const sm = (...args: string[]) => runProgram(process.execPath, [smProgram, ...args], { env })
  const json = async <T>(...args: string[]): Promise<T> => {
    const { code, stdout, stderr } = await sm(...args, '--json')
    expect(`${code} ${stderr}`).toMatch(/^0 /)
    return JSON.parse(stdout) as T
  }
  whenOver(() => sm('down'))
  const home = env['MUSTER_HOME'] as string
  const segment = () => {
    const folder = join(home, 'journal', 'segments')
    return join(folder, readdirSync(folder).sort().at(-1) as string)
  }
  return { sm, json, home, segment }
}

test('[MUS-115][MUS-117][MUS-118] commands that run at once start one daemon; up says so again; down ends it and is quiet the second time', async () => {
  const { sm, json } = await person()
  const started = await Promise.all(Array.from({ length: sized(10, 4) }, () => json<{ pid: number }>('up')))
  expect(new Set(started.map(({ pid }) => pid)).size).toBe(1)
  const again = await json<{ pid: number; started: boolean }>('up')
  expect(again).toMatchObject({ pid: started[0]?.pid, started: false })
  expect((await sm('down')).code).toBe(0)
  expect((await sm('down')).code).toBe(0)
  expect((await json<{ pid: number }>('up')).pid).not.toBe(started[0]?.pid)
})

test('[MUS-157][MUS-158][MUS-161][MUS-79] a session file goes in once, is found, and comes out as it went in', async () => {
  const { sm, json } = await usual()
  const [first] = await json<{ sessionId: string; shortId: string; duplicate: boolean }[]>(
    'log',
    'import',
    example,
  )
  expect(first).toMatchObject({ duplicate: false })
  const [second] = await json<{ duplicate: boolean }[]>('log', 'import', example)
  expect(second).toMatchObject({ duplicate: true })
  const short = first?.shortId as string
  const out = await sm('log', 'export', short)
  expect(out.code).toBe(0)
  expect(JSON.parse(out.stdout)).toEqual(JSON.parse(goldenText(exampleName)))
  const { hits } = await json<{ hits: { sessionId: string }[] }>('search', 'authentication')
  expect(hits[0]?.sessionId).toBe(first?.sessionId)
  const missing = await sm('log', 'export', 'nosuch')
  expect(missing.code).toBe(3)
})

test('[MUS-124] export and import into an empty home give the same events; a second import adds none', async () => {
  const from = await usual()
  const to = await person()
  await from.sm('log', 'import', example)
  const exported = await from.sm('journal', 'export')
  const file = join(to.home, '..', 'events.jsonl')
  writeFileSync(file, exported.stdout)
  expect((await to.sm('journal', 'import', file)).code).toBe(0)
  expect((await to.sm('journal', 'import', file)).code).toBe(0)
  const again = await to.sm('journal', 'export')
  const bare = (text: string) =>
    text
      .trim()
      .split('\n')
      .map((line) => {
        const {
          recordedAt: _recordedAt,
          producer: _producer,
          ...event
        } = JSON.parse(line) as Record<string, unknown>
        return event
      })
  expect(bare(again.stdout)).toEqual(bare(exported.stdout))
})

test('[MUS-33][MUS-27] a torn end is cut at the next start; a flipped byte is named, refused, and cured by the command that is told', async () => {
  const { sm, json, home, segment } = await person()
  await sm('log', 'import', example)
  await sm('down')
  appendFileSync(segment(), '{"seq":1000,"id":"evt_')
  expect((await sm('journal', 'verify')).stdout).toMatch(/after the last whole batch/)
  await sm('up')
  const tail = await sm('journal', 'tail', '-n', '1', '--json')
  expect(JSON.parse(tail.stdout)).toMatchObject({ type: 'journal.recovered' })
  await sm('log', 'import', example)
  await sm('down')

  const text = readFileSync(segment(), 'utf8')
  writeFileSync(segment(), text.replace('"outcome"', '"outcoma"').replace('task-001', 'task-00X'))
  const verified = await sm('journal', 'verify')
  expect(verified.code).toBe(1)
  expect(verified.stdout + verified.stderr).toMatch(/jsonl:\d+: /)
  // With a snapshot the daemon would not read what lies before it; without one it reads and refuses.
  rmSync(join(home, 'journal', 'snapshots'), { recursive: true })
  const refused = await sm('up')
  expect(refused.code).not.toBe(0)
  expect(refused.stderr).toMatch(/is damaged[\s\S]*sm journal verify --set-aside/)
  expect((await sm('journal', 'verify', '--set-aside')).code).toBe(0)
  expect(await json<{ started: boolean }>('up')).toMatchObject({ started: true })
})

test('[MUS-77][MUS-70] the index is built again on demand and answers the same', async () => {
  const { sm, json } = await usual()
  await sm('log', 'import', example)
  const before = await json<{ hits: unknown[] }>('search', 'auth')
  expect((await sm('journal', 'rebuild-index')).code).toBe(0)
  const after = await json<{ hits: unknown[] }>('search', 'auth')
  expect(before.hits.length).toBeGreaterThan(0)
  expect(after).toEqual(before)
})

test('[MUS-68] sm redact test shows what would go, without a daemon', async () => {
  const { sm, home } = await person()
  const file = join(home, '..', 'text.txt')
  writeFileSync(file, `first line\nexport API_TOKEN=${'abcdEFGH'.repeat(4)}\n`)
  const shown = await sm('redact', 'test', file)
  expect(shown.code).toBe(0)
  expect(shown.stdout).toMatch(/redacted:/)
  expect(shown.stdout).not.toContain('abcdEFGH'.repeat(4))
})

test('[MUS-123] the commands of the journal: verify, stats and export without a daemon, the others start one', async () => {
  const { sm, json, home } = await person()
  await sm('log', 'import', example)
  const { seq } = await json<{ seq: number }>('journal', 'stats')
  expect(seq).toBeGreaterThan(10)
  await sm('down')
  expect(await json<object>('journal', 'verify')).toMatchObject({ ok: true, events: seq, damage: [] })
  expect(await json<object>('journal', 'stats')).toMatchObject({ seq })
  const exported = (await sm('journal', 'export')).stdout.trim().split('\n')
  expect(exported).toHaveLength(seq)
  expect(existsSync(join(home, 'muster.sock'))).toBe(false)

  const file = join(home, '..', 'again.jsonl')
  writeFileSync(file, exported.join('\n'))
  expect((await (await person()).sm('journal', 'import', file)).code).toBe(0)
  expect((await sm('journal', 'tail', '-n', '3', '--json')).stdout.trim().split('\n')).toHaveLength(3)
  expect((await json<{ seq: number }>('journal', 'rebuild-index')).seq).toBeGreaterThanOrEqual(seq)
})

test('[MUS-119] sm up --replace puts a new daemon in the place of the old one, and no event is lost or doubled', async () => {
  const { sm, json, home } = await person()
  const before = await json<{ pid: number; url: string }>('up')
  const token = readFileSync(join(home, 'operator.token'), 'utf8').trim()
  const client = clientFor(before.url, token)
  const session = sessionDrafts()
  await client.appendEvents({ events: [session.started()] })
  let sent = 0
  let isOver = false
  // A producer that numbers what it says may say it again until somebody has heard it.
  const reporting = (async () => {
    while (!isOver || sent < 50) {
      const producer = { id: 'reporter', epoch: 0, n: sent + 1 }
      const told = await client
        .appendEvents({ events: [session.note(`note ${sent}`)], producer })
        .catch(() => {})
      if (told) sent += 1
      else await sleep(20)
    }
  })()
  const after = await json<{ pid: number; url: string; started: boolean }>('up', '--replace')
  isOver = true
  await reporting
  expect(after).toMatchObject({ started: true, url: before.url })
  expect(after.pid).not.toBe(before.pid)
  const notes = (await sm('journal', 'export', '--type', 'progress.checkpoint')).stdout.trim().split('\n')
  const messages = notes.map((line) => (JSON.parse(line) as { payload: { message: string } }).payload.message)
  expect(messages).toEqual(Array.from({ length: sent }, (_, i) => `note ${i}`))
})

test('[MUS-127] a session is named by its short id, a beginning of it, or its name; what fits several is refused with all of them', async () => {
  const { sm, json, home } = await usual()
  const { url } = await json<{ url: string }>('up')
  const client = clientFor(url, readFileSync(join(home, 'operator.token'), 'utf8').trim())
  const named = ['lint-a', 'lint-b', 'docs'].map((name) => ({ name, drafts: sessionDrafts() }))
  await client.appendEvents({
    events: named.map(({ name, drafts }) => ({ ...drafts.started(), payload: { name } })),
  })
  const idOf = async (word: string) => (await json<{ session_id: string }>('progress', word)).session_id
  const shorts = named.map(({ drafts }) => shortId(drafts.sessionId))
  expect(shorts.every((id) => /^[0-9a-f]{8}$/.test(id))).toBe(true)
  const [one = '', two = '', docs = ''] = shorts
  const all = await sm('all')
  for (const short of shorts) expect(all.stdout).toContain(short)
  for (const word of [docs, docs.slice(0, 7), 'docs', 'do', named[2]?.drafts.sessionId ?? ''])
    expect(await idOf(word), word).toBe(docs)
  const several = await sm('progress', 'lint')
  expect(several.code).toBe(4)
  for (const short of [one, two]) expect(several.stderr).toContain(short)
  expect(several.stderr).toMatch(/lint-a.*lint-b|lint-b.*lint-a/)
  expect((await sm('progress', 'nobody')).code).toBe(3)
})
