import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ids } from '../../test/support/temp-engine.ts'
import { tempFolder } from '../../test/support/temp-journal.ts'
import { openAuthority } from './authority.ts'

function place() {
  const dir = tempFolder()
  let now = 1_000_000
  const clock = { now: () => now, monotonic: () => now, sleep: () => Promise.resolve() }
  const files = { operatorToken: join(dir, 'operator.token'), grants: join(dir, 'grants.json') }
  return { files, open: () => openAuthority(files, clock), pass: (ms: number) => void (now += ms) }
}

test('[MUS-203] the token in the private file is the operator’s, the same after a restart; others are nobody’s', async () => {
  const { files, open } = place()
  const authority = await open()
  const token = readFileSync(files.operatorToken, 'utf8').trim()
  expect(statSync(files.operatorToken).mode & 0o777).toBe(0o600)
  expect(authority.authenticate(token)).toEqual({ kind: 'operator', channel: 'cli' })
  for (const wrong of ['', 'mop_', `${token}x`, token.slice(0, -1), token.toUpperCase()])
    expect(authority.authenticate(wrong), wrong).toBeUndefined()
  expect((await open()).authenticate(token)).toMatchObject({ kind: 'operator' })
})

test('[MUS-205] a session’s capability names that session until it is revoked, and only its hash is stored', async () => {
  const { files, open } = place()
  const authority = await open()
  const [one, two] = [ids.session(), ids.session()]
  const capability = await authority.grantSession(one)
  const other = await authority.grantSession(two)
  expect(capability).toMatch(/^mst_[\w-]{43}$/)
  expect(readFileSync(files.grants, 'utf8')).not.toContain(capability.slice(4))
  expect(statSync(files.grants).mode & 0o777).toBe(0o600)
  const again = await open()
  expect(again.authenticate(capability)).toEqual({ kind: 'session', sessionId: one })
  await again.revokeSession(one)
  expect(again.authenticate(capability)).toBeUndefined()
  expect((await open()).authenticate(other)).toEqual({ kind: 'session', sessionId: two })
})

test('[MUS-204] a login code gives a browser its token once, within a minute, and the browser stays logged in', async () => {
  const { open, pass } = place()
  const authority = await open()
  const code = authority.loginCode()
  const token = await authority.redeem(code)
  expect(authority.authenticate(token ?? '')).toEqual({ kind: 'operator', channel: 'browser' })
  expect(await authority.redeem(code)).toBeUndefined()
  expect(await authority.redeem('guess')).toBeUndefined()
  expect((await open()).authenticate(token ?? '')).toMatchObject({ channel: 'browser' })
  const late = authority.loginCode()
  pass(60_001)
  expect(await authority.redeem(late)).toBeUndefined()
})

test('[MUS-205] capabilities granted and revoked at the same time are all kept', async () => {
  const { open } = place()
  const authority = await open()
  const sessions = Array.from({ length: 30 }, () => ids.session())
  const tokens = await Promise.all(sessions.map((id) => authority.grantSession(id)))
  await Promise.all(sessions.slice(0, 10).map((id) => authority.revokeSession(id)))
  const again = await open()
  const found = tokens.map((token) => again.authenticate(token))
  expect(found.slice(0, 10).every((who) => who === undefined)).toBe(true)
  expect(found.slice(10)).toEqual(sessions.slice(10).map((sessionId) => ({ kind: 'session', sessionId })))
})

test('[MUS-205] a new capability ends the one before it, and many that are given at once all count', async () => {
  const { open } = place()
  const authority = await open()
  const [one, two, three] = [ids.session(), ids.session(), ids.session()]
  const first = await authority.grantSession(one)
  const tokens = await Promise.all([one, two, three].map((id) => authority.grantSession(id)))
  expect(authority.authenticate(first)).toBeUndefined()
  const again = await open()
  const named = () => tokens.map((token) => again.authenticate(token))
  expect(named()).toEqual([one, two, three].map((sessionId) => ({ kind: 'session', sessionId })))
  await again.keepSessions(new Set([two]))
  expect(named()).toEqual([undefined, { kind: 'session', sessionId: two }, undefined])
})
