import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'vitest'
import { cliSessions, scripted } from '../support/cli-session.ts'
import { type CliName, shellCall } from '../support/hermetic.ts'

const cli = (process.env['TRY_CLI'] ?? 'codex') as CliName
test('try', { timeout: 120_000 }, async () => {
  const m = await cliSessions(cli, {
    ...(process.env['TRY_VERSION'] && { version: process.env['TRY_VERSION'] }),
  })
  const prompt = scripted(
    [
      {
        text: 'I will write',
        tools: [shellCall(cli, 'echo hi > made.txt')],
        usage: { input: 100, output: 20 },
      },
      { text: 'Done. All tests pass.', usage: { input: 150, output: 30 } },
    ],
    'Please write a file',
  )
  const s = await m.spawn(prompt, { permission_mode: process.env['TRY_MODE'] ?? 'bypass' })
  console.log(s)
  for (let i = 0; i < 12; i++) {
    await sleep(1500)
    const v = await m.client.getSession({ id: s.session_id })
    console.log(
      i,
      v.status,
      v.activity,
      v.health,
      v.waiting_for,
      v.tokens_used,
      JSON.stringify(v.tools_used),
      v.pending_approvals,
      v.queued_messages,
    )
  }
  console.log((await m.client.getOutput({ id: s.session_id, lines: 40 })).lines.join('\n'))
  console.log(JSON.stringify(await m.client.explainSession({ id: s.session_id }), null, 1))
  const { events } = await m.client.listEvents({ limit: 200, session: s.session_id, after: 0 })
  for (const e of events) console.log(e.seq, e.type, JSON.stringify(e.payload).slice(0, 150))
  console.log(m.daemon.log().slice(-30000))
  console.log(m.model.requests().map((r) => [r.answered, r.step, JSON.stringify(r.usage)]))
})
