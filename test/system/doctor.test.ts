import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { version } from '../../src/contract/version.ts'
import { sessionDaemon } from '../support/session-daemon.ts'

type Daemon = Awaited<ReturnType<typeof sessionDaemon>>

const check = async (m: Daemon) => {
  const { checks } = await m.client.checkSessions({}, { timeoutMs: 90_000 })
  return Object.fromEntries(checks.map((one) => [one.name, one]))
}

test('[MUS-120] the doctor looks from inside a terminal: this sm, its version, hooks, tmux, walls and CLIs; it leaves nothing', async () => {
  const m = await sessionDaemon({ config: 'claude: { default_command: /no/such/claude }\n' })
  expect(await check(m)).toMatchObject({
    tmux: { status: 'ok', detail: expect.stringMatching(/^tmux \d.*, server muster-/) },
    isolation: { status: 'ok', detail: expect.stringContaining('bubblewrap') },
    claude: { status: 'ok', detail: 'not installed' },
    'sm in a terminal': { status: 'ok', detail: `${m.home}/bin/sm, version ${version}` },
    hooks: { status: 'ok', detail: expect.stringContaining('/api/v1/hooks') },
  })
  expect((await check(m))['PATH of sessions']).toBeUndefined()
  expect(m.processes()).toEqual([])
  expect(m.tmux('list-sessions', '-F', '#{session_name}').trim()).toBe('muster-anchor')
})

test('[MUS-120] start-up files that put another sm first, or lose it, are found and named', async () => {
  const m = await sessionDaemon()
  mkdirSync(join(m.home, 'other'))
  writeFileSync(join(m.home, 'other', 'sm'), '#!/bin/sh\necho another\n', { mode: 0o755 })
  writeFileSync(join(m.home, '.bashrc'), `PATH=${m.home}/other:$PATH\n`)
  const found = (await check(m))['PATH of sessions']
  expect(found).toMatchObject({
    status: 'failed',
    detail: `an interactive bash finds ${m.home}/other/sm first, not ${m.home}/bin/sm`,
    cure: expect.stringContaining('start-up file'),
  })
  writeFileSync(join(m.home, '.bashrc'), 'PATH=/usr/bin:/bin\n')
  expect((await check(m))['PATH of sessions']?.detail).toBe(
    `an interactive bash finds no sm, not ${m.home}/bin/sm`,
  )
})

test('[MUS-120] a login shell that rewrites the PATH still finds this sm first', async () => {
  const m = await sessionDaemon()
  mkdirSync(join(m.home, 'other'))
  writeFileSync(join(m.home, 'other', 'sm'), '#!/bin/sh\necho another\n', { mode: 0o755 })
  writeFileSync(join(m.home, '.bash_profile'), `PATH=${m.home}/other:${m.home}/bin:$PATH\n`)
  expect((await check(m))['PATH of sessions']).toBeUndefined()
})
