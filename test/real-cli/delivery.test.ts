import { expect, test } from 'vitest'
import { cliSessions, scripted } from '../support/cli-session.ts'
import { cliPath, missingCli, tried } from '../support/clis.ts'
import { eventually } from '../support/session-daemon.ts'

test.for(tried.filter(({ name }) => name === 'claude'))(
  '[SM-42][SM-43][MUS-237] Claude Code $version: messages to an idle and to a busy agent arrive whole, once and in order',
  async (cli, { skip }) => {
    if (cliPath('claude', cli.version) === undefined) return skip(missingCli(cli))
    const config = 'child_agents: { mode: manual }\n'
    const m = await cliSessions('claude', { version: cli.version, config })
    const session = await m.spawn(scripted([{ text: 'Ready.' }], 'Begin.'))
    await eventually(
      () => m.client.getSession({ id: session.session_id }),
      ({ status }) => status === 'idle',
    )
    const long = `${'Zeile ü 漢字 '.repeat(200)}\nsecond line\n!not a command\n/exit is text`
    const texts = [
      'first, while idle',
      long,
      scripted([{ text: 'slow', delayMs: 3000 }], 'third, slow'),
      'fourth, while busy',
    ]
    for (const text of texts) await m.client.sendMessage({ id: session.session_id, text })
    const { messages } = await eventually(
      () => m.client.listMessages({ id: session.session_id }),
      ({ messages: all }) => all.every(({ state }) => state === 'accepted' || state === 'failed'),
    )
    expect(messages.map(({ state }) => state)).toEqual([
      'accepted',
      'accepted',
      'accepted',
      'accepted',
      'accepted',
    ])
    // What was taken into the CLI's own queue shows in its record when its turn comes.
    const prompts = await eventually(
      async () => {
        const { entries } = await m.client.getTranscript({ id: session.session_id })
        return entries.filter(({ who }) => who === 'user').map(({ text }) => text.trim())
      },
      (found) => found.length > texts.length,
    )
    expect(prompts.slice(1).map((text) => text.slice(0, 20))).toEqual(texts.map((text) => text.slice(0, 20)))
    expect(prompts[2]).toContain('/exit is text')
  },
)
