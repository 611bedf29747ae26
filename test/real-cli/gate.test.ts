import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { cliSessions, scripted } from '../support/cli-session.ts'
import { cliPath, clis, missingCli } from '../support/clis.ts'
import { shellCall } from '../support/hermetic.ts'
import { eventually } from '../support/session-daemon.ts'

const delayMs = 4000

/** The role has no shell. With the daemon dead nobody can be asked: the call must not run all the same. */
test.for(clis)(
  '[MUS-209][MUS-236] $name $version: a tool that the role does not have is not run, with the daemon alive and with it dead',
  async (cli, { skip }) => {
    const { name, version } = cli
    if (cliPath(name, version) === undefined) return skip(missingCli(cli))
    const m = await cliSessions(name, { version, config: 'child_agents: { mode: manual }\n' })
    const steps = [
      { text: 'one', tools: [shellCall(name, 'echo x > first.txt')] },
      { text: 'two', tools: [shellCall(name, 'echo x > second.txt')], delayMs },
      { text: 'three' },
    ]
    await m.spawn(scripted(steps, 'Look around.'), {
      agent_type: 'explore',
      cli: name,
      permission_mode: 'bypass',
    })
    const answered = async () => m.model.requests().filter(({ answered: how }) => how === 'step').length
    // The second step is being thought about: the first call was refused while the daemon lived.
    await eventually(answered, (count) => count >= 1)
    await eventually(
      async () => m.model.requests().length,
      (count) => count >= 2,
    )
    await sleep(500)
    m.daemon.process.kill('SIGKILL')
    await eventually(answered, (count) => count >= 2)
    await sleep(3000)
    expect(existsSync(join(m.own.cwd, 'first.txt'))).toBe(false)
    expect(existsSync(join(m.own.cwd, 'second.txt'))).toBe(false)
  },
)
