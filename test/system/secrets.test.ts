import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runProgram } from '../cli/run-sm.ts'
import { startDaemonProcess } from '../support/daemon-process.ts'
import { smProgram } from '../support/programs.ts'
import { plantedSecrets } from '../support/secrets.ts'
import { eventually } from '../support/session-daemon.ts'
import { standInClaude } from '../support/stand-in-claude.ts'
import { sessionDrafts } from '../support/temp-engine.ts'
import { tempFolder } from '../support/temp-journal.ts'

const known = ['Tr0ub4dor-and-3-staples', 'correct/horse+battery=staple', 'zk9-very-private-value-77']

const filesOf = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter(
      (path) => statSync(path).isFile() && !path.endsWith('operator.token') && !path.endsWith('vault.key'),
    )

/** A payload with the text somewhere inside: in a value, a key, deep, long enough for a blob, or cut over fields. */
function hidden(text: string, seed: number): Record<string, unknown> {
  const places: (() => Record<string, unknown>)[] = [
    () => ({ command: text }),
    () => ({ deep: { list: ['a', { more: [text, 'b'] }] } }),
    () => ({ content: `${'x '.repeat(10_000)}\n${text}\n${'y '.repeat(100)}` }),
    () => ({ env: [`note ${text} end`] }),
    () => ({ lines: text.split('\n') }),
  ]
  return (places[seed % places.length] as () => Record<string, unknown>)()
}

test('[MUS-56][MUS-65][MUS-162][OBS-53] no planted secret of any class reaches journal, blobs, index, stream, answers, exports or log in plain text, and each is counted', async () => {
  const home = tempFolder()
  const daemon = await startDaemonProcess(home, {
    env: {
      SERVICE_TOKEN: known[0] as string,
      DEPLOY_KEY: known[1] as string,
      DB_PASSWORD: known[2] as string,
    },
  })
  const seen: string[] = []
  const stop = new AbortController()
  const following = (async () => {
    for await (const frame of daemon.client.streamEvents({}, { signal: stop.signal }))
      seen.push(JSON.stringify(frame))
  })().catch(() => {})
  const session = sessionDrafts()
  await daemon.client.appendEvents({ events: [session.started()] })

  const secrets = fc
    .sample(fc.integer({ min: 1, max: 1 << 30 }), { numRuns: 6, seed: 11 })
    .flatMap((seed) => plantedSecrets(seed))
  const planted = secrets.map(({ secret }) => secret)
  const drafts = secrets.flatMap(({ text }, i) => [
    session.draft('tool.call.started', { callId: `c${i}`, tool: 'Bash', params: hidden(text, i) }),
    session.note(text.slice(0, 4000)),
  ])
  for (const [i, value] of known.entries()) {
    planted.push(value, Buffer.from(value).toString('base64'))
    drafts.push(
      session.note(`plain ${value}`),
      session.note(`coded ${Buffer.from(`user:${value}`).toString('base64')}`),
    )
    for (let cut = 3; cut < value.length - 3; cut += 4)
      drafts.push(
        session.draft('tool.call.started', {
          callId: `k${i}-${cut}`,
          tool: 'X',
          params: { a: value.slice(0, cut), b: value.slice(cut) },
        }),
      )
  }
  for (let at = 0; at < drafts.length; at += 50) {
    const { results } = await daemon.client.appendEvents({ events: drafts.slice(at, at + 50) })
    expect(results.filter((result) => result.status !== 'appended')).toEqual([])
  }
  const { seq } = await daemon.client.health({})
  for (;;) {
    const { followers } = await daemon.client.doctor({})
    if (followers.every((follower) => follower.lag === 0) && seen.length >= seq) break
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const { redaction, checks } = await daemon.client.doctor({})
  expect(Object.values(redaction).reduce((a, b) => a + b, 0)).toBeGreaterThan(secrets.length)
  const shown = checks.find(({ name }) => name === 'redaction')?.detail
  for (const rule of new Set(secrets.map((planted) => planted.class)))
    expect(shown).toContain(`${rule} ${redaction[rule]}`)
  const { document } = await daemon.client.exportLog({ id: session.sessionId })
  const lines = await runProgram(process.execPath, [smProgram, 'journal', 'export'], {
    env: { PATH: process.env['PATH'], HOME: home, MUSTER_HOME: home },
  })
  const answers = JSON.stringify(await daemon.client.listEvents({ limit: 1000 }))
  stop.abort()
  await following
  await daemon.kill('SIGTERM')

  const texts = [
    ...filesOf(home).map((path) => [path, readFileSync(path, 'latin1')] as const),
    ['stream', seen.join('\n')] as const,
    ['answers', answers] as const,
    ['log', daemon.log()] as const,
    ['session file', JSON.stringify(document)] as const,
    ['exported journal', lines.stdout] as const,
  ]
  // The events themselves did arrive everywhere, so that a clean search means something.
  for (const part of [
    'segments',
    'blobs',
    'index.db',
    'search.db',
    'stream',
    'answers',
    'session file',
    'exported journal',
  ])
    expect(
      texts.some(([name, text]) => name.includes(part) && text.includes('[redacted:')),
      part,
    ).toBe(true)
  for (const [name, text] of texts)
    for (const secret of planted)
      expect(text.includes(secret), `${secret.slice(0, 6)}… in ${name}`).toBe(false)
  for (const value of known)
    for (const [name, text] of texts) {
      const joined = text.replaceAll(/"[,:]"[ab]":"|","b":"/g, '')
      expect(joined.includes(value), `split value in ${name}`).toBe(false)
    }
})

test('[MUS-162] the transcript that is kept of a session has no secret in it', async () => {
  const c = await standInClaude({ child_agents: { cleanup: { archive_path: 'kept' } } })
  const [planted] = plantedSecrets(3)
  const session = await c.spawn()
  await c.turn(session, { text: 'All done. Task completed.', prompt: `deploy with ${planted?.text}` })
  await c.client.completeSession({ id: session.id, message: 'done' })
  await eventually(
    () => c.events('session.archived'),
    (events) => events.length > 0,
  )
  const kept = filesOf(join(c.home, 'kept')).map((path) => readFileSync(path, 'utf8'))
  expect(kept.join()).toContain(`[redacted:${planted?.class}]`)
  expect(kept.join()).not.toContain(planted?.secret)
})
