import { expect, onTestFinished, test } from 'vitest'
import { campaign } from '../support/delivery/campaign.ts'
import { fakeField } from '../support/delivery/fake-field.ts'
import { eventually } from '../support/session-daemon.ts'
import { sized } from '../support/size.ts'
import { tempFolder } from '../support/temp-journal.ts'

test('[SM-42][SM-43][MUS-237][MUS-243] through storms, dialogs, drafts, scrolling and kill -9, each message arrives whole, once and in order, or its sender is told', async () => {
  const [seed, messages] = [3, sized(24, 9)]
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
