import { join } from 'node:path'
import { expect, test } from 'vitest'
import { person } from '../support/person.ts'
import { eventually, sessionDaemon } from '../support/session-daemon.ts'

const sm = join(import.meta.dirname, '../../sm')

test('[MUS-238] sm watch shows real sessions, follows j and k, sends a reply, ends one, and gives the terminal back', async () => {
  const m = await sessionDaemon()
  const alpha = await m.spawnShell({ name: 'alpha' })
  const gamma = await m
    .as(alpha.session_id)
    .client.spawnSession({ agent_type: 'shell', prompt: '', name: 'gamma' })
  const beta = await m.spawnShell({ name: 'beta' })
  // Those at work are on top: one that still starts would be there first, and chosen.
  for (const { id } of [alpha, gamma, beta])
    await eventually(
      () => m.client.getSession({ id }),
      ({ status }) => status === 'idle',
    )
  const p = person(m.home)
  p.run(`stty -g > before; ${sm} watch; echo "left $?"; stty -g > after; cmp before after && echo same`)
  const first = await p.shows(/alpha[\s\S]*gamma[\s\S]*beta[\s\S]*── shell-alpha[\s\S]*q quit/)
  expect(first).toMatch(/^ muster .*3 sessions/)
  expect(first.split('\n').find((line) => line.startsWith('── shell-alpha'))).toHaveLength(80)
  expect(first).toMatch(new RegExp(`shell-alpha +${alpha.session_id} `))
  expect(first).toMatch(new RegExp(`└ shell-gamma +${gamma.session_id} `))

  await eventually(
    async () => p.bar() ?? '',
    (line) => line.includes('shell-alpha'),
  )
  p.keys('j')
  await eventually(
    async () => p.bar() ?? '',
    (line) => line.includes('shell-gamma'),
  )
  p.keys('j')
  await eventually(
    async () => p.bar() ?? '',
    (line) => line.includes('shell-beta'),
  )
  p.keys('k', 'j')

  p.keys('Space')
  await p.shows(/reply to shell-beta ›/)
  p.type('echo größe $((40+2)) 日本')
  await p.shows(/› echo größe \$\(\(40\+2\)\) 日本/)
  p.keys('Enter')
  await p.shows(new RegExp(`Input sent to session ${beta.session_id}`))
  await eventually(
    () => m.client.getOutput({ id: beta.session_id, lines: 50 }),
    ({ lines }) => lines.includes('größe 42 日本'),
  )
  p.keys('o')
  await p.shows(/its terminal, live[\s\S]*größe 42 日本/)
  p.keys('Escape')
  await p.shows(/SESSION +ID/)

  p.keys('x')
  await p.shows(/press x again to end shell-beta/)
  expect((await m.client.getSession({ id: beta.session_id })).status).not.toBe('killed')
  p.keys('x')
  await p.shows(/✗ shell-beta +\w+ killed/)
  expect((await m.client.getSession({ id: beta.session_id })).status).toBe('killed')

  p.keys('q')
  const after = await p.shows(/left 0\n[\s\S]*same/)
  expect(after).not.toMatch(/SESSION/)
  expect(p.modes()).toBe('0 1 1 bash')
})

test('[MUS-238] it attaches and comes back, follows a new size, outlives a restart of the daemon, and stops and goes on as a job', async () => {
  const m = await sessionDaemon()
  const alpha = await m.spawnShell({ name: 'alpha' })
  const p = person(m.home)
  p.run(sm)
  await p.shows(/shell-alpha/)

  p.keys('Enter')
  await p.shows(/^bash-[\d.]+[$#]/)
  p.type('echo in $((6*7))\n')
  await p.shows(/in 42/)
  m.tmux('detach-client', '-s', `=${alpha.tmux_session}`)
  await p.shows(/SESSION +ID/)

  p.resize(100, 30)
  await eventually(
    async () => p.screen().split('\n')[0] ?? '',
    (line) => line.endsWith('1 session') && line.length === 99,
  )

  await m.restart()
  await m.spawnShell({ name: 'later' })
  await p.shows(/shell-later/)

  p.keys('C-z')
  await p.shows(/Stopped/)
  expect(p.modes()).toBe('0 1 1 bash')
  p.type('fg\n')
  await p.shows(/shell-later[\s\S]*q quit/)
  p.keys('j')
  p.keys('C-c')
  await eventually(
    async () => p.modes(),
    (modes) => modes === '0 1 1 bash',
  )
})

test('what was begun is finished before it leaves', async () => {
  const m = await sessionDaemon()
  const alpha = await m.spawnShell({ name: 'alpha' })
  const p = person(m.home)
  p.run(`${sm} watch; echo "left $?"`)
  await p.shows(/shell-alpha/)
  p.keys('x', 'x', 'q')
  await p.shows(/left 0/)
  expect((await m.client.getSession({ id: alpha.session_id })).status).toBe('killed')
})

test('a signal that ends it gives the terminal back too', async () => {
  const m = await sessionDaemon()
  await m.spawnShell({ name: 'alpha' })
  const p = person(m.home)
  p.run(`${sm} watch; echo "left $?"`)
  await p.shows(/shell-alpha/)
  process.kill(p.program(), 'SIGTERM')
  await p.shows(/left 143/)
  expect(p.modes()).toBe('0 1 1 bash')
})
