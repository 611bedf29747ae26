import { expect, test } from 'vitest'
import { world } from '../../../test/cli/world.ts'
import { approvalView, sessionView } from '../../../test/support/watch-views.ts'
import type { Client } from '../../client/client.ts'
import { AppError } from '../../contract/errors.ts'
import type { MessageView } from '../../contract/session-views.ts'
import type { Input } from './model.ts'
import { type DaemonEffect, perform } from './perform.ts'

/** Performs an effect against a daemon that answers as told; answers what the person is told. */
async function performed(effect: DaemonEffect, client: Partial<Client>): Promise<Input[]> {
  const told: Input[] = []
  const { io } = world({ client })
  await perform(effect, {
    client: client as Client,
    io,
    lend: (run) => run(),
    tell: (input) => told.push(input),
  })
  return told
}

const target = { id: sessionView(1).id, name: 'api' }
const message = (state: MessageView['state'], detail: string | null = null): MessageView => ({
  message_id: 'msg_1',
  session_id: '00000001',
  from: null,
  mode: 'sequential',
  state,
  preview: 'hi',
  detail,
  queued_at: '2026-01-27T15:30:00.000Z',
  accepted_at: null,
  failed_at: null,
})

test('[SM-42] a reply shows each receipt until its fate is known, and never a success before', async () => {
  const states = [message('queued', 'it is busy'), message('pasted'), message('accepted')]
  const told = await performed(
    { kind: 'send', ...target, text: 'hi' },
    { sendMessage: async () => message('queued'), getMessage: async () => states.shift() as MessageView },
  )
  expect(told).toEqual([
    { kind: 'note', tone: 'plain', text: 'Queued for session 00000001 (msg_1)' },
    { kind: 'note', tone: 'plain', text: 'Queued for session 00000001 (msg_1): it is busy' },
    { kind: 'note', tone: 'plain', text: 'On its way to session 00000001, not accepted yet (msg_1)' },
    { kind: 'note', tone: 'good', text: 'Input sent to session 00000001' },
  ])
})

test('a message that stays queued is not asked after for ever', async () => {
  let asked = 0
  const told = await performed(
    { kind: 'send', ...target, text: 'hi' },
    {
      sendMessage: async () => message('queued', 'it is busy'),
      getMessage: async () => {
        asked++
        return message('queued', 'it is busy')
      },
    },
  )
  expect(told).toHaveLength(1)
  expect(asked).toBeLessThan(12)
})

test('a refusal of the daemon is told and ends nothing', async () => {
  const refuse = async () => {
    throw new AppError('conflict', 'api has no running program')
  }
  const note = { kind: 'note', tone: 'bad', text: 'api has no running program' }
  expect(await performed({ kind: 'interrupt', ...target }, { interruptSession: refuse })).toEqual([note])
  expect(await performed({ kind: 'attach', ...target }, { getAttach: refuse })).toEqual([note])
  const bug = performed(
    { kind: 'interrupt', ...target },
    { interruptSession: async () => Promise.reject(new TypeError('bug')) },
  )
  await expect(bug).rejects.toThrow('bug')
})

test('a decision names exactly the approval that was shown', async () => {
  const sent: unknown[] = []
  const session = sessionView(1, { friendly_name: 'api' })
  const told = await performed(
    { kind: 'decide', decision: { id: 'apr_1', verdict: 'allow', scope: 'session' } },
    {
      decideApproval: async (input) => {
        sent.push(input)
        return approvalView(session, { decision: 'granted' })
      },
    },
  )
  expect(sent).toEqual([{ id: 'apr_1', verdict: 'allow', scope: 'session' }])
  expect(told).toMatchObject([{ tone: 'good', text: expect.stringMatching(/^Approved for api/) }])
})

test('an end tells how many ended, and what would not', async () => {
  const killed = [sessionView(1), sessionView(2)]
  expect(
    await performed(
      { kind: 'kill', ...target },
      { killSession: async () => ({ killed, left: [], suspects: [] }) },
    ),
  ).toMatchObject([{ tone: 'good', text: 'ended api and 1 below it' }])
  expect(
    await performed(
      { kind: 'kill', ...target },
      { killSession: async () => ({ killed, left: [4, 5], suspects: [] }) },
    ),
  ).toMatchObject([{ tone: 'bad', text: 'api ended, but its processes 4, 5 are still running; see: sm ps' }])
})
