import { expect, onTestFinished, test } from 'vitest'
import { textWidth } from '../render/text-width.ts'
import { openAside } from './hear-answer.ts'

test('[MUS-271] a long status stays in its one line of the terminal', () => {
  const { stderr } = process
  const { isTTY, columns } = stderr
  onTestFinished(() => void Object.assign(stderr, { isTTY, columns }))
  Object.assign(stderr, { isTTY: true, columns: 40 })
  const shown: string[] = []
  const io = { isJson: false, env: { NO_COLOR: '1' }, progress: (text: string) => shown.push(text) }
  openAside({ client: {} as never, io: io as never, sessionId: 's' }).status(
    `Calling Bash: ${'字'.repeat(100)}`,
  )
  expect(shown).toEqual([expect.stringMatching(/^… Calling Bash: 字/)])
  expect(textWidth(shown[0] ?? '')).toBeLessThan(40)
})
