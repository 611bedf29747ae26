import { expect, test } from 'vitest'
import { ownDaemon } from '../support/asked-daemon.ts'
import { call, script } from '../support/own-agents.ts'
import { person } from '../support/person.ts'
import { eventually } from '../support/session-daemon.ts'

test('[MUS-273][RUN-52] sm chat in a terminal: answers, calls, a permission, a queue, a stop, a restart, and back again', async () => {
  const m = await ownDaemon('runtime: { approvals: [{ tool: Bash, action: ask }], on_restart: resume }\n')
  const p = person(m.home)
  p.resize(80, 40)
  const sm = `cd ${m.project}; clear; ${process.execPath} ${m.main}`
  p.run(
    `stty -g > ~/before; ${sm} chat boss; echo "left $?"; stty -g > ~/after; cmp ~/before ~/after && echo same`,
  )
  await p.shows(/◆ boss {2}a new session[\s\S]*› say something to boss/)

  p.type(
    `Look 早く ${script({ text: 'I look.', ...call('Read', { file_path: 'a.txt' }) }, { text: 'It is 42, 完成.' })}`,
  )
  p.keys('Enter')
  const first = await p.shows(/1 call · /)
  expect(first).toMatch(/◆ I look\.\n {2}● Read a\.txt {2}[\d.]+ m?s\n\n◆ It is 42, 完成\.\n {2}1 call · /)

  p.type(
    script(call('Bash', { command: 'echo hi' }), call('Bash', { command: 'echo ho' }), { text: 'It ran.' }),
  )
  p.keys('Enter')
  await p.shows(/│ Bash: echo hi\n[\s\S]*y once {2}s this session {2}a always {2}n no/)
  p.keys('y')
  await p.shows(/● Bash echo hi[\s\S]*│ Bash: echo ho\n[\s\S]*y once/)
  p.keys('n')
  await p.shows(/say why/)
  p.type('not today')
  p.keys('Enter')
  await p.shows(/⊘ Bash echo ho {2}denied: not today[\s\S]*◆ It ran\./)

  p.type(
    script({ text: 'I begin.', ...call('Read', { file_path: 'a.txt' }) }, { text: 'late', delayMs: 60_000 }),
  )
  p.keys('Enter')
  await p.shows(/◆ I begin\./)
  p.type('and this')
  p.keys('Enter')
  await p.shows(/› and this {2}queued/)
  p.type('/dismiss 1')
  p.keys('Enter')
  await p.shows(/taken back/)
  p.keys('Escape')
  await p.shows(/■ boss was stopped: cancelled by user/)

  await m.restart()
  p.resize(120, 40)
  p.type(`@maker ${script({ text: 'Made again.' })}`)
  await eventually(
    async () => {
      p.keys('Enter')
      return p.screen()
    },
    (text) => /◆ maker: Made again\./.test(text),
  )
  p.keys('C-d')
  const left = await p.shows(/left 0\nsame/)
  const session = /sm chat --session ([0-9a-f]{8})/.exec(left)?.[1] ?? ''
  expect((await m.client().getSession({ id: session })).status).toBe('idle')

  p.run(`${sm} chat --session ${session}`)
  await p.shows(/◆ boss {2}session [0-9a-f]{8}[\s\S]*› say something to boss/)
  expect(p.screen()).toContain('Made again.')
  p.keys('C-c')
  await p.shows(/press ctrl-c again to quit/)
  p.keys('C-c')
  await p.shows(/The session stays/)
})

test('[MUS-273] without a terminal each line of the input is a message, and each answer is waited for', async () => {
  const m = await ownDaemon()
  const lines = [
    script({ text: 'one', delayMs: 300 }),
    '/mode chat',
    '',
    script({ status: 400 }),
    script({ text: 'two' }),
  ]
  const piped = await m.begin(['chat', 'boss'], `${lines.join('\n')}\n`).ended
  expect(piped).toMatchObject({ code: 1, out: 'one\ntwo\n' })
  expect(piped.err).toMatch(/boss failed: [\s\S]*sm chat --session [0-9a-f]{8}[\s\S]*1 message got no answer/)
  const data = await m.begin(['chat', 'boss', '--json'], `${lines[0]}\n${lines[4]}\n/quit\nmore\n`).ended
  const answers = data.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { text: string; session_id: string })
  expect(answers.map(({ text }) => text)).toEqual(['one', 'two'])
  expect(new Set(answers.map(({ session_id }) => session_id)).size).toBe(1)
})
