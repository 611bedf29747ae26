import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually, sessionDaemon } from '../support/session-daemon.ts'
import { standInClaude } from '../support/stand-in-claude.ts'
import { tempFolder } from '../support/temp-journal.ts'

/** A program that has the name and version of OpenCode and does nothing; the test tells in its plugin's place. */
function silentOpenCode(): string {
  const path = join(tempFolder('mho-'), 'opencode')
  writeFileSync(path, '#!/bin/sh\n[ "$1" = --version ] && echo 1.18.33 && exit\nexec sleep infinity\n')
  chmodSync(path, 0o755)
  return path
}

test('[MUS-249] what a plugin tells twice counts once, though the daemon was killed in between', async () => {
  const config = `clis: { opencode: { command: ${JSON.stringify(silentOpenCode())} } }\nchild_agents: { mode: manual }\n`
  const m = await sessionDaemon({ config })
  const session = await m.client.spawnSession({ agent_type: 'opencode', prompt: '', working_dir: m.home })
  const id = session.session_id
  const epoch = 'e1'
  const tell = async (n: number, payload: object) => {
    const { token } = m.as(id)
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
    const body = JSON.stringify({ at: 1_800_000_000_000 + n, epoch, n, session: 's1', ...payload })
    const answer = await fetch(`${m.daemon.url}/api/v1/hooks/opencode`, { method: 'POST', headers, body })
    expect(answer.status).toBe(200)
  }
  const call = { tool: 'bash', callID: 'call-1' }
  const told = [
    { event: 'chat.message', id: 'm1', text: 'Do it.' },
    { event: 'tool.before', ...call, args: { command: 'ls' } },
    {
      event: 'message.part.updated',
      part: { type: 'tool', ...call, state: { status: 'completed', output: 'a' } },
    },
    {
      event: 'message.updated',
      info: {
        id: 'msg-1',
        role: 'assistant',
        modelID: 'scripted',
        time: { created: 1, completed: 2 },
        tokens: { input: 100, output: 5, reasoning: 0, cache: { read: 0, write: 0 } },
      },
    },
  ]
  for (const [i, payload] of told.entries()) await tell(i + 1, payload)
  for (const [i, payload] of told.entries()) await tell(i + 1, payload)
  const look = () => m.client.getSession({ id })
  await eventually(look, ({ total_tools }) => total_tools === 1)
  await m.restart()
  for (const [i, payload] of told.entries()) await tell(i + 1, payload)
  const second = { tool: 'bash', callID: 'call-2' }
  await tell(5, { event: 'tool.before', ...second, args: { command: 'pwd' } })
  const done = { type: 'tool', ...second, state: { status: 'completed', output: '/' } }
  await tell(6, { event: 'message.part.updated', part: done })
  const seen = await eventually(look, ({ total_tools }) => total_tools >= 2)
  expect(seen).toMatchObject({ total_tools: 2, tools_used: { Bash: 2 }, tokens_used: 105 })
  const { runs } = await m.client.listRuns({ id: session.id })
  expect(runs.filter(({ task }) => task === 'Do it.')).toHaveLength(1)
})

test('[MUS-249] a record that is read again after a restart is no change of state', async () => {
  const m = await standInClaude({ child_agents: { mode: 'manual' } })
  const session = await m.spawn()
  for (const prompt of ['do it', 'once more', 'and again']) await m.turn(session, { prompt, text: 'done' })
  const moves = async () =>
    (await m.events('session.state.changed')).map(({ payload }) => (payload as { to: string }).to)
  const before = await eventually(moves, (all) => all.at(-1) === 'idle')
  await m.restart()
  await m.turn(session, { prompt: 'after the restart', text: 'done' })
  const after = await eventually(moves, (all) => all.length > before.length && all.at(-1) === 'idle')
  // On a busy machine the same state may be told once more, with another health.
  const moved = after.slice(before.length).filter((to, i, all) => to !== (all[i - 1] ?? before.at(-1)))
  expect(moved).toEqual(['running', 'idle'])
})

test('[MUS-334] several questions that only keys could answer are left to the terminal', async () => {
  const path = join(tempFolder('mhg-'), 'gemini')
  writeFileSync(path, '#!/bin/sh\n[ "$1" = --version ] && echo 0.61.0 && exit\nexec sleep infinity\n')
  chmodSync(path, 0o755)
  const m = await sessionDaemon({ config: `clis: { gemini: { command: ${JSON.stringify(path)} } }\n` })
  const { session_id: id } = await m.client.spawnSession({
    agent_type: 'gemini',
    prompt: '',
    working_dir: m.home,
  })
  const question = (text: string) => ({
    question: text,
    header: text,
    options: [{ label: 'A' }, { label: 'B' }],
  })
  const { token } = m.as(id)
  const answer = await fetch(`${m.daemon.url}/api/v1/hooks/gemini`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({
      hook_event_name: 'BeforeTool',
      tool_name: 'ask_user',
      tool_input: { questions: [question('One'), question('Two')] },
    }),
  })
  expect(answer.status).toBe(200)
  await eventually(
    () => m.client.listApprovals({}),
    ({ approvals }) => approvals.length === 1,
  )
  await expect(
    m.client.decideApproval({ id, verdict: 'allow', answers: { One: 'A', Two: 'B' } }),
  ).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('sm attach') })
  expect((await m.client.listApprovals({})).approvals).toHaveLength(1)
})
