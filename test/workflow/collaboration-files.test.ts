import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { demonstrationRequest } from '../../src/contract/demonstration.ts'
import type { MultiAgentSession } from '../../src/contract/session-file/multi-agent-session.ts'
import { validateSession } from '../../src/session-file/validate.ts'
import { crewDaemon } from '../support/crew-daemon.ts'
import { eventually } from '../support/session-daemon.ts'

test('[MUS-278] the file of a crew is written as it goes under one name, survives a kill, and is final at its end', async () => {
  const m = await crewDaemon()
  const { workflow_id, session_id } = await m.crew(demonstrationRequest)
  const file = () => m.client().getWorkflow({ id: workflow_id })
  const { session_file: path } = await eventually(file, ({ session_file }) => session_file !== null)
  const read = () => JSON.parse(readFileSync(path ?? '', 'utf8')) as MultiAgentSession
  const written = async () => read()
  expect(statSync(path ?? '').mode & 0o777).toBe(0o600)
  expect(validateSession(read(), { filename: path?.split('/').at(-1) ?? '' })).toMatchObject({
    valid: true,
    warnings: [],
  })
  const early = read()
  expect(early.status).toBe('in_progress')
  await m.kill()
  await m.ended(workflow_id)
  const exported = await m.client().exportLog({ id: session_id })
  await eventually(written, (now) => now.messages.length === 15)
  expect(read().session_id).toBe(early.session_id)
  expect(path).toBe(join(m.home, 'collaborations', exported.filename))

  await m.client().killSession({ id: session_id })
  const last = await eventually(written, ({ status }) => status !== 'in_progress')
  expect(last).toEqual((await m.client().exportLog({ id: session_id })).document)
  expect(readdirSync(join(m.home, 'collaborations'))).toEqual([exported.filename])

  const marked = { ...last, task_title: 'as somebody left it' }
  writeFileSync(path ?? '', JSON.stringify(marked))
  await m.kill()
  await m.client().exportLog({ id: session_id })
  expect(read()).toEqual(marked)
  expect((await file()).session_file).toBe(path)
})
