import { describe, expect, test } from 'vitest'
import { cliSessions, scripted } from '../support/cli-session.ts'
import { cliPath, clis, missingCli } from '../support/clis.ts'
import { eventually } from '../support/session-daemon.ts'

/** Those that put a prompt back into their box when Escape comes before any output; the others keep it in the conversation. */
const returning = new Set(['claude'])

describe.each(clis)('$name $version', (cli) => {
  const { name, version } = cli

  test('[MUS-322] a prompt of a person that Escape brought back is not deleted for a message, which goes when the box is empty', async ({
    skip,
  }) => {
    if (cliPath(name, version) === undefined) skip(missingCli(cli))
    const m = await cliSessions(name, { version, config: 'child_agents: { mode: manual }\n' })
    const { session_id: id, tmux_session } = await m.spawn(scripted([{ text: 'Ready.' }], 'Begin.'))
    const terminal = tmux_session ?? ''
    const status = (wanted: string) =>
      eventually(
        () => m.client.getSession({ id }),
        (session) => session.status === wanted,
      )
    await status('idle')
    const before = m.model.requests().length
    const prompt = scripted([{ text: 'late', delayMs: 600_000 }], 'Think').replace('\n', ' ')
    await m.typeLine(terminal, prompt)
    await eventually(
      async () => m.model.requests().length,
      (count) => count > before,
    )
    await eventually(
      async () => m.look(terminal).isWorking,
      (isWorking) => isWorking,
    )
    const isAtRest = () => {
      const { isWorking, composer } = m.look(terminal)
      return !isWorking && composer.state !== 'none'
    }
    await m.press(terminal, ['Escape'], isAtRest)
    await status('idle')
    const send = () => m.client.sendMessage({ id, text: scripted([{ text: 'Done.' }], 'something else') })
    const accepted = (message: string) =>
      eventually(
        () => m.client.getMessage({ message }),
        ({ state }) => state === 'accepted' || state === 'failed',
      )
    const box = () => {
      const { composer } = m.look(terminal)
      return composer.state === 'text' ? composer.text : ''
    }
    expect(box().includes('Think')).toBe(returning.has(name))
    const { message_id: message } = await send()
    if (returning.has(name)) {
      const held = await eventually(
        () => m.client.getMessage({ message }),
        ({ state, detail }) => state !== 'queued' || (detail?.includes('holds a text') ?? false),
      )
      expect(held.state).toBe('queued')
      expect(box()).toContain('Think')
      await m.press(terminal, m.dialect.typing(version).clear, () => box() === '')
    }
    expect(await accepted(message)).toMatchObject({ state: 'accepted' })
  })
})
