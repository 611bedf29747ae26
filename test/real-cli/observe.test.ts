import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { cliSessions, scripted } from '../support/cli-session.ts'
import { cliPath, clis, missingCli } from '../support/clis.ts'
import { outsideTmux } from '../support/outside.ts'
import { eventually } from '../support/session-daemon.ts'

const seen = clis.filter(({ name }) => name === 'claude' || name === 'codex')

/** Every file below a folder with what is in it and when it was written. */
function picture(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name)
      const digest = createHash('sha256').update(readFileSync(path)).digest('hex')
      return [path, `${digest} ${statSync(path).mtimeMs}`]
    }),
  )
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe.each(seen)('$name $version', (cli) => {
  test('[MUS-240] one that was started by hand is shown and never touched, ends with its program, and goes on when it is adopted', async ({
    skip,
  }) => {
    const program = cliPath(cli.name, cli.version)
    if (program === undefined) return skip(missingCli(cli))
    const m = await cliSessions(cli.name, {
      version: cli.version,
      config: 'child_agents: { mode: manual }\n',
    })
    const person = outsideTmux()
    const pid = person.run('mine', [program, ...m.own.args], {
      env: { ...m.own.env },
      cwd: m.own.cwd,
    })
    await eventually(
      async () => person.screen('mine'),
      (text) => /[❯›]/.test(text),
    )
    const own = await m.spawn(scripted([{ text: 'Managed answer.' }], 'Managed prompt.'))
    await person.type('mine', scripted([{ text: 'The password is swordfish.' }]))

    const observed = async () => (await m.client.listSessions({ origin: 'observed', open: true })).sessions
    const [one] = await eventually(observed, ([first]) => first !== undefined && first.status === 'idle')
    expect(one).toMatchObject({
      origin: 'observed',
      cli: cli.name,
      working_dir: m.own.cwd,
      is_alive: true,
      tmux_session: null,
    })
    const id = one?.session_id ?? ''
    // Ours is not among them, though it is of the same CLI in the same folder.
    await eventually(
      () => m.client.getSession({ id: own.session_id }),
      ({ status }) => status === 'idle',
    )
    expect((await observed()).map(({ session_id }) => session_id)).toEqual([id])
    const { entries } = await eventually(
      () => m.client.getTranscript({ id }),
      (found) => found.entries.some(({ text }) => text.includes('swordfish.')),
    )
    expect(entries.map(({ who }) => who)).toContain('user')
    expect((await m.client.getOutput({ id, lines: 50 })).lines.join('\n')).toContain('agent: The password is')

    // Whatever is asked of it is refused with what to do, and changes nothing of theirs.
    await m.client.killSession({ id: own.session_id })
    const refused = { code: 'conflict', message: expect.stringContaining(`sm adopt ${id}`) }
    const files = () => picture(m.own.env['CODEX_HOME'] ?? m.own.env['CLAUDE_CONFIG_DIR'] ?? '')
    // The program writes files of its own when it likes; what a refusal writes would be there each time.
    const untouched = async () => {
      const before = files()
      await expect(m.client.sendMessage({ id, text: 'hello' })).rejects.toMatchObject(refused)
      await expect(m.client.killSession({ id, force: true })).rejects.toMatchObject(refused)
      await expect(m.client.interruptSession({ id })).rejects.toMatchObject(refused)
      await expect(m.client.completeSession({ id })).rejects.toMatchObject(refused)
      await expect(m.client.updateSession({ id, task: 'mine' })).rejects.toMatchObject(refused)
      await expect(m.client.resumeSession({ id })).rejects.toMatchObject(refused)
      await expect(m.client.getAttach({ id })).rejects.toMatchObject(refused)
      await expect(m.client.addCheckpoint({ id, message: 'x' })).rejects.toMatchObject(refused)
      await expect(m.spawnShell({ parent: id })).rejects.toMatchObject(refused)
      await expect(m.client.adoptSession({ id })).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('quit it there'),
      })
      return isDeepStrictEqual(files(), before)
    }
    await eventually(untouched, (isSame) => isSame)
    expect(isAlive(pid)).toBe(true)
    expect(person.screen('mine')).not.toContain('hello')

    // A daemon that comes back sees the same session again, not another.
    await m.m.restart('SIGKILL')
    await eventually(
      async () => (await m.m.client.listSessions({ origin: 'observed' })).sessions,
      (all) => all.length === 1 && all[0]?.is_alive === true,
    )

    person.tmux('kill-session', '-t', '=mine')
    const client = m.m.client
    const left = await eventually(
      async () => {
        await client.listSessions({ open: true })
        return client.getSession({ id })
      },
      ({ completion_status }) => completion_status !== null,
    )
    expect(left).toMatchObject({ status: 'cancelled', is_alive: false })

    await client.adoptSession({ id })
    await eventually(
      () => client.getSession({ id }),
      ({ status, origin }) => status === 'idle' && origin === 'managed',
    )
    await client.sendMessage({ id, text: scripted([{ text: 'Still here.' }], 'What was it?') })
    const told = await eventually(
      () => client.getTranscript({ id }),
      ({ entries: all }) => all.some(({ text }) => text.includes('Still here.')),
    )
    // The same conversation, with what was said before it was ours.
    expect(told.entries.map(({ text }) => text).join('\n')).toContain('swordfish')
    const requests = await (await fetch(`${m.model.url}/__requests`)).text()
    expect(requests.length).toBeGreaterThan(0)
    const adopted = await client.getSession({ id })
    expect(adopted).toMatchObject({ origin: 'managed', tmux_session: `${cli.name}-${id}`, is_alive: true })
    expect((await client.listSessions({ origin: 'observed', open: true })).sessions).toEqual([])
  })
})
