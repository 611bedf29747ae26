import { realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runProgram } from '../cli/run-sm.ts'
import { call, script } from '../support/own-agents.ts'
import { ownDaemon } from '../support/own-daemon.ts'
import { smProgram } from '../support/programs.ts'
import { tempFolder } from '../support/temp-journal.ts'

test('[MUS-272][MUS-46] sm replay: exact with an approval and a subagent, no text of the vault in its answer, another way from a step on', async () => {
  const m = await ownDaemon(realpathSync(tempFolder('mrp-')), {
    runtime: '{ approvals: [{ tool: Bash, pattern: "git *", action: ask }] }',
  })
  onTestFinished(() => m.close())
  const sm = (...args: string[]) =>
    runProgram(process.execPath, [smProgram, ...args], {
      cwd: m.project,
      env: { PATH: process.env['PATH'], HOME: m.home, MUSTER_HOME: m.home },
    })
  const secret = `AKIA${'Q7ZX'.repeat(4)}`
  writeFileSync(join(m.project, 'key'), secret)
  const child = script(call('Read', { file_path: 'key' }), { text: 'read' })
  const { session_id } = await m.say(
    script(
      call('Bash', { command: 'git --version' }),
      call('Task', { subagent_type: 'helper', prompt: child }),
      { text: 'It is ${lastToolResult}' },
    ),
  )
  await m.until('approval.requested')
  await m.daemon.client.decideApproval({ id: session_id, verdict: 'allow' })
  await m.until('agent.completed', 2)
  const before = m.asked.length
  const exact = await sm('replay', session_id)
  expect({ ...exact, stdout: exact.stdout.split('\n')[0] }).toMatchObject({
    code: 0,
    stdout: 'exact: the same calls, the same answers, the same end',
  })
  expect(exact.stdout).toMatch(/^boss run_\S+ \| 3 steps \| completed → completed\n {2}helper run_/m)
  const json = await sm('replay', session_id, '--json')
  expect(JSON.parse(json.stdout)).toMatchObject({
    verdict: 'exact',
    runs: [
      { agent_id: 'boss', steps: [{ step: 1, calls: ['Bash'] }, { calls: ['Task'] }, {}] },
      { agent_id: 'helper' },
    ],
  })
  expect(json.stdout).not.toContain(secret)
  expect(m.asked).toHaveLength(before)
  expect((await sm('replay', session_id, '--model', 'rec/scripted')).code).toBe(2)
  const prompt = script({ text: 'another end' })
  const branched = await sm('replay', session_id, '--from', '2', '--prompt', prompt, '--json')
  expect(JSON.parse(branched.stdout)).toMatchObject({ verdict: 'branched', step: 2 })
  await m.until('session.completed')
  expect((await m.until('agent.completed', 3))[2]?.payload.output).toMatchObject({ text: 'another end' })
  expect(m.asked).toHaveLength(before + 1)
  expect(m.asked.at(-1)).toContain('git --version')
  writeFileSync(
    join(m.home, '.config/muster/agents/boss.md'),
    '---\nkind: main\ntools: [Read]\npolicy: []\n---\nWork.\n',
  )
  const changed = await sm('replay', session_id)
  expect(changed.code).not.toBe(0)
  expect(changed.stdout).toMatch(/step 0, agent: its agent file now lists other tools: Read/)
  expect(changed.stdout).toMatch(/step 2 \(seq \d+\), answer: the answer of Bash/)
})
