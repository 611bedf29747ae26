import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sessionFiles } from '../../src/contract/home.ts'
import { clientFor } from '../support/daemon-process.ts'
import { campaign } from '../support/delivery/campaign.ts'
import { fakeField } from '../support/delivery/fake-field.ts'
import { eventually } from '../support/session-daemon.ts'
import { sized } from '../support/size.ts'
import { tempFolder } from '../support/temp-journal.ts'

test('[SM-42][SM-43][MUS-237][MUS-243] through storms, dialogs, drafts, scrolling and kill -9, each message arrives whole, once and in order, or its sender is told', async () => {
  const [seed, messages] = [3, sized(12, 9)]
  const field = await fakeField(tempFolder('md-'), { sessions: 3, seed })
  onTestFinished(() => field.close())
  const figures = await campaign(field, { messages, seed, kills: 1, personEveryMs: 4000 })
  expect(figures.faults).toEqual([])
  expect(field.count('dialog', 'enter')).toBe(0)
  expect(figures.accepted + figures.refused.length).toBe(messages)
  expect(figures.accepted).toBeGreaterThanOrEqual(messages - 4)
}, 240_000)

test('[MUS-245] a screen that nobody can read holds no message up while nobody is at the keys', async () => {
  const field = await fakeField(tempFolder('md-'), {
    sessions: 1,
    seed: 1,
    prompt: 'Begin.',
    isUnreadable: true,
  })
  onTestFinished(() => field.close())
  const [target] = field.targets
  const sent = await field.daemon.ask((client) => client.sendMessage({ id: target?.id ?? '', text: 'go on' }))
  const ended = await eventually(
    () => field.daemon.ask((client) => client.getMessage({ message: sent.message_id })),
    ({ state }) => state === 'accepted' || state === 'failed',
  )
  expect(ended.state).toBe('accepted')
  expect(target?.taken().map(({ text }) => text)).toEqual(['go on'])
})

test('[MUS-321] a program that takes no Enter: the message is a dead letter, shown in the row and told to who sent it, and the next one goes', async () => {
  const field = await fakeField(tempFolder('md-'), { sessions: 2, seed: 1, isCalm: true })
  onTestFinished(() => field.close())
  const [target, sender] = field.targets
  const id = target?.id ?? ''
  const token = readFileSync(
    join(field.home, sessionFiles.folder, sender?.id ?? '', sessionFiles.token),
    'utf8',
  )
  // A session may write only to those below it.
  await field.daemon.ask((client) => client.adoptSession({ id, parent: sender?.id ?? '' }))
  const asSender = clientFor(field.daemon.url(), token.trim())
  const lost = await asSender.sendMessage({ id, text: 'deaf to this' })
  const next = await asSender.sendMessage({ id, text: 'and the next' })
  const ends = await eventually(
    () => field.daemon.ask((client) => client.listMessages({ id })),
    ({ messages }) => messages.every(({ state }) => state === 'accepted' || state === 'failed'),
  )
  const byId = new Map(ends.messages.map((one) => [one.message_id, one]))
  expect(byId.get(lost.message_id)).toMatchObject({
    state: 'failed',
    detail: expect.stringContaining('ignored Enter'),
  })
  expect(byId.get(next.message_id)?.state).toBe('accepted')
  const shown = await field.daemon.ask((client) => client.getSession({ id }))
  expect(shown.alerts).toMatchObject([
    { kind: 'undelivered', evidence: expect.stringContaining('ignored Enter') },
  ])
  const told = await eventually(
    async () => sender?.taken().map(({ text }) => text) ?? [],
    (texts) => texts.some((text) => text.includes('was not delivered')),
  )
  expect(told.filter((text) => text.includes('was not delivered'))).toEqual([
    expect.stringContaining('deaf to this'),
  ])
  // Something that was sent after it has arrived: whoever sent it knows.
  const later = await field.daemon.ask((client) => client.sendMessage({ id, text: 'again' }))
  await eventually(
    () => field.daemon.ask((client) => client.getMessage({ message: later.message_id })),
    ({ state }) => state === 'accepted',
  )
  expect((await field.daemon.ask((client) => client.getSession({ id }))).alerts).toEqual([])
})
