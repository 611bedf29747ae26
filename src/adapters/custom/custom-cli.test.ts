import { expect, test } from 'vitest'
import { launchRequest } from '../../../test/support/launch-request.ts'
import { customCli } from './custom-cli.ts'

const cli = customCli()
const { signal } = new AbortController()
const plan = (fields: Parameters<typeof launchRequest>[1]) =>
  cli.plan(launchRequest('/tmp/f', fields), signal)

test('[SM-44] a program of the user’s own is started as configured, with the prompt where it wants it', async () => {
  expect(await plan({ args: ['-q'], prompt: 'go', promptBy: 'argument' })).toMatchObject({
    argv: ['/opt/agent', '-q', 'go'],
    isPromptGiven: true,
  })
  expect(await plan({ args: ['-q'], prompt: 'go', promptBy: 'typed' })).toMatchObject({
    argv: ['/opt/agent', '-q'],
    isPromptGiven: false,
  })
})

test('[MUS-209] a limit that nothing could keep is refused', async () => {
  await expect(plan({ role: { text: '', tools: ['Read'] } })).rejects.toMatchObject({ code: 'denied' })
})

test('[SM-88] nothing is read into its screen', () => {
  const screen = {
    lines: ['> x'],
    width: 80,
    height: 24,
    cursor: { x: 0, y: 0, isVisible: true },
    isInMode: false,
    title: '',
  }
  expect(cli.dialect.screen(screen, '')).toEqual({ composer: { state: 'none' }, isWorking: false })
})
