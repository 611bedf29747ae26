import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ownDaemon } from '../support/asked-daemon.ts'

test('[MUS-214] the demonstration: a shipped agent mends a real project, its real test passes, and no model is called', async () => {
  const m = await ownDaemon('models: { default: anthropic/claude-opus-5-5 }\n')
  const folder = join(m.home, 'demo')
  const first = await m.sm('demo', '--once')
  expect(first).toMatchObject({ code: 0, err: '' })
  expect(first.out).toMatch(
    /no model was called[\s\S]*● Read greet\.mjs[\s\S]*✗ Bash node --test[\s\S]*● Edit greet\.mjs[\s\S]*● Bash node --test/,
  )
  const session = /sm chat --session ([0-9a-f]{8})/.exec(first.out)?.[1] ?? ''
  expect(await m.client().getSession({ id: session })).toMatchObject({
    agent_type: 'coder',
    cli: 'own',
    status: 'idle',
    working_dir: folder,
  })
  const { events } = await m.client().listEvents({ session, type: 'llm.request.started' })
  expect(events.length).toBe(5)
  expect(events.every(({ payload }) => (payload as { provider?: string }).provider === 'scripted')).toBe(true)
  const git = (...args: string[]) => execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' })
  expect(git('diff')).toMatch(/-.*`Hello!`\n\+.*`Hello, \$\{name\}!`/)
  expect(git('log', '--format=%an %s')).toBe('Muster A greeting with a fault\n')
  execFileSync(process.execPath, ['--test'], { cwd: folder, stdio: 'pipe' })

  expect(await m.sm('demo', '--once')).toEqual({ code: 0, out: '', err: '' })
  const again = await m.sm('demo', '--json')
  expect(JSON.parse(again.out)).toMatchObject({
    folder: `${folder}-2`,
    answer: { status: 'completed', tools: { length: 5 } },
  })
})

test('[MUS-214] where there are sessions already, no toy is shown', async () => {
  const m = await ownDaemon()
  await m.sm('ask', 'boss', 'SCRIPT:[{"text":"Hi."}]')
  expect(await m.sm('demo', '--once')).toEqual({ code: 0, out: '', err: '' })
  expect((await m.client().listSessions({})).sessions).toHaveLength(1)
})
