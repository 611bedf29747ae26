import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { agentClis } from '../../src/contract/agent-clis.ts'
import { version } from '../../src/contract/version.ts'
import { sessionDaemon } from '../support/session-daemon.ts'
import { tempFolder } from '../support/temp-journal.ts'

type Daemon = Awaited<ReturnType<typeof sessionDaemon>>

const check = async (m: Daemon) => {
  const { checks } = await m.client.checkSessions({}, { timeoutMs: 90_000 })
  return Object.fromEntries(checks.map((one) => [one.name, one]))
}

test('[MUS-120] the doctor looks from inside a terminal: this sm, its version, hooks, tmux, walls and CLIs; it leaves nothing', async () => {
  const m = await sessionDaemon({ env: { PATH: '/usr/bin:/bin' } })
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

const testedOf = (name: 'claude' | 'codex') => agentClis[name].npm?.tested[0]?.version ?? ''

const program = (folder: string, name: string, says: string) => {
  const path = join(folder, name)
  writeFileSync(path, `#!/bin/sh\necho "${says}"\n`, { mode: 0o755 })
  return path
}

test('[MUS-344] the doctor tells versions that were tested from others, and a program that the settings name and that is not there is a failure', async () => {
  const folder = tempFolder('doctor-')
  const m = await sessionDaemon({
    config: JSON.stringify({
      claude: { default_command: program(folder, 'claude', '9.9.9 (Claude Code)') },
      clis: {
        codex: { command: program(folder, 'codex', `codex-cli ${testedOf('codex')}`) },
        gemini: { command: '/no/such/gemini' },
        opencode: { command: program(folder, 'opencode', 'no number') },
        mine: { command: '/no/such/agent' },
        there: { command: 'sh' },
      },
    }),
    env: { PATH: '/usr/bin:/bin' },
  })
  const found = await check(m)
  expect(found).toMatchObject({
    claude: {
      status: 'warning',
      detail: expect.stringContaining('9.9.9 (not tested), '),
      cure: expect.stringContaining(`tested: ${testedOf('claude')}, `),
    },
    codex: { detail: expect.stringContaining(`${testedOf('codex')} (tested), `) },
    gemini: {
      status: 'failed',
      detail: '/no/such/gemini is not there or cannot be run, but clis.gemini.command names it',
    },
    opencode: { status: 'failed', detail: `${folder}/opencode does not say its version` },
    pi: { status: 'ok', detail: 'not installed' },
    mine: { status: 'failed', detail: expect.stringContaining('clis.mine.command names it') },
  })
  expect(found['there']).toBeUndefined()
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
