import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { eventually, sessionDaemon } from '../support/session-daemon.ts'
import { shared } from '../support/shared.ts'
import { tempFolder } from '../support/temp-journal.ts'

const usual = shared(() => sessionDaemon())

type Daemon = Awaited<ReturnType<typeof sessionDaemon>>

/** A shell behind walls, in a folder of its own, and what it says to a line that is typed into it. */
async function walled(m: Daemon, more: Record<string, unknown> = {}) {
  const work = tempFolder('miso-')
  const one = await m.spawnShell({ isolation: 'bwrap', working_dir: work, ...more })
  return { ...one, work, run: runner(m, one.tmux_session, work) }
}

/** Runs lines in a terminal; what they print goes to a file, so that no screen cuts it. */
function runner(m: Daemon, terminal: string, work: string) {
  let n = 0
  const name = randomUUID().slice(0, 8)
  return async (line: string): Promise<string> => {
    const file = (end: string) => join(work, `${name}-${n}.${end}`)
    const [script, out, done] = [file('sh'), file('out'), file('done')] as const
    n += 1
    writeFileSync(script, `${line}\n`)
    m.tmux('send-keys', '-t', `=${terminal}:`, `bash ${script} >${out} 2>&1; echo $? >${done}`, 'Enter')
    await eventually(
      async () => read(done),
      (text) => text.endsWith('\n'),
    )
    return `${read(out)}exit ${read(done)}`.trimEnd()
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

describe('[MUS-210] behind the walls of bwrap', () => {
  test('[MUS-210] a session writes only where it works, and its own sm and token work', async () => {
    const m = await usual()
    const others = m.processes()
    const one = await walled(m)
    expect(one).toMatchObject({ isolation: 'bwrap' })
    const outside = tempFolder('miso-outside-')
    expect(await one.run(`echo hi > ${one.work}/mine && cat ${one.work}/mine`)).toBe('hi\nexit 0')
    expect(await one.run('touch /usr/x /etc/x /opt/x 2>&1 | grep -c "Read-only\\|No such"')).toContain('3')
    expect(await one.run(`ls ${outside}; ls -A /run/user /tmp/tmux-* 2>&1 | grep -v "No such"`)).toContain(
      'exit 1',
    )
    expect(await one.run('sm me --json')).toContain(`"session_id": "${one.session_id}"`)
    expect(await one.run('sm checkpoint "half way"')).toContain('exit 0')
    expect(await one.run('ps -e | grep -c node || echo none; ls /proc | grep -c "^[0-9]"')).toMatch(
      /^0\nnone\n\d\n/,
    )
    const { killed, left } = await m.client.killSession({ id: one.session_id })
    expect([killed.length, left]).toEqual([1, []])
    expect(m.processes()).toEqual(others)
  })

  test('[MUS-298] no setting of the kernel opens for writing, for root neither', async () => {
    const m = await usual()
    const one = await walled(m)
    const tries = 'kernel/core_pattern kernel/hostname vm/drop_caches net/ipv4/ip_forward'
    const said = await one.run(
      `for f in ${tries}; do ( : >> /proc/sys/$f ) 2>/dev/null && echo opened $f; done; echo tried`,
    )
    expect(said).toContain('tried')
    expect(said).not.toMatch(/^opened/m)
  })

  test('[MUS-210] it finds no token of another session, no operator, no vault, no terminal and no process', async () => {
    const m = await usual()
    const victim = await m.spawnShell({ name: 'victim' })
    const { token } = m.as(victim.session_id)
    const operator = readFileSync(join(m.home, 'operator.token'), 'utf8').trim()
    const thief = await walled(m)
    const steal = [
      // Environments, arguments and memory of others.
      'cat /proc/[0-9]*/environ | tr "\\0" "\\n" | grep -a "mst_\\|mop_" | grep -v "$MUSTER_TOKEN"',
      `kill -0 ${m.daemon.process.pid} && echo alive; cat /proc/${m.daemon.process.pid}/environ`,
      // The state folder by name, by the walls taken down, from new namespaces, and through what is mounted.
      `find ${m.home} -type f -not -path "${m.home}/sessions/${thief.session_id}/*" -not -path "${m.home}/bin/*" -not -path "${m.home}/.cache/*"`,
      `cat ${m.home}/operator.token ${m.home}/vault.key ${m.home}/sessions/${victim.session_id}/token`,
      `umount ${m.home} && cat ${m.home}/operator.token`,
      `unshare -Urm sh -c 'umount ${m.home}; umount /tmp; cat ${m.home}/operator.token'`,
      `mount --bind / /tmp && cat /tmp${m.home}/operator.token`,
      `cat /proc/1/root${m.home}/operator.token /proc/self/root${m.home}/operator.token`,
      // The terminals.
      `tmux -L ${m.socket} capture-pane -p -t '=${victim.tmux_session}:'`,
      `tmux -L ${m.socket} send-keys -t '=${victim.tmux_session}:' 'echo owned' Enter && echo typed`,
      `test -S ${m.home}/muster.sock && echo socket`,
      // The victim's name with what this session has, and without.
      `MUSTER_SESSION=${victim.id} sm complete stolen && echo completed`,
      `env -u MUSTER_TOKEN MUSTER_SESSION=${victim.id} sm complete stolen && echo completed`,
      `env -u MUSTER_TOKEN -u MUSTER_SESSION sm kill ${victim.session_id} --force && echo killed`,
    ]
    for (const line of steal) {
      const said = await thief.run(line)
      expect(said, line).not.toContain(token)
      expect(said, line).not.toContain(operator)
      expect(said, line).not.toMatch(/alive|typed|socket\n|completed|killed\n/)
    }
    const found = await thief.run(steal[2] as string)
    expect(
      found
        .split('\n')
        .filter((path) => path.startsWith(m.home))
        .sort(),
    ).toEqual([join(m.home, 'port'), join(m.home, 'shell-start.sh')])
    expect(await m.client.getSession({ id: victim.id })).toMatchObject({ completion_status: null })
    expect((await m.client.getOutput({ id: victim.id })).lines.join('\n')).not.toContain('owned')
  })

  test('[MUS-210] without walls the same reach is there, as the guide says', async () => {
    const m = await usual()
    const [victim, thief] = [await m.spawnShell(), await m.spawnShell()]
    const work = tempFolder('miso-')
    const run = runner(m, thief.tmux_session, work)
    expect(await run(`cat ${m.home}/sessions/${victim.session_id}/token`)).toContain(
      m.as(victim.session_id).token,
    )
    const guide = readFileSync('docs/guide/sessions.md', 'utf8')
    expect(guide).toMatch(/guard rail/)
  })

  test('[MUS-210] what it starts is behind the same walls, whatever it asks for', async () => {
    const m = await usual()
    const one = await walled(m)
    const { client } = m.as(one.session_id)
    const ask = { agent_type: 'shell', prompt: '' }
    await expect(client.spawnSession({ ...ask, isolation: 'none' })).rejects.toMatchObject({ code: 'denied' })
    await expect(client.spawnSession({ ...ask, args: ['-x'] })).rejects.toMatchObject({ code: 'denied' })
    const elsewhere = tempFolder('miso-else-')
    // A link and a forged work tree would open other folders, were they looked at again.
    await one.run(`ln -s ${elsewhere} out; mkdir sub; echo "gitdir: ${elsewhere}/x" > sub/.git`)
    mkdirSync(join(elsewhere, 'x'))
    writeFileSync(join(elsewhere, 'x', 'commondir'), '..\n')
    const child = await client.spawnSession({
      ...ask,
      working_dir: join(one.work, 'sub'),
      environment: { PATH: '/evil', HOME: '/evil' },
    })
    expect(child).toMatchObject({ isolation: 'bwrap' })
    const run = runner(m, child.tmux_session, one.work)
    expect(await run(`touch ${elsewhere}/stolen ${one.work}/out/stolen; pwd; echo $HOME`)).toContain(
      `${one.work}/sub`,
    )
    expect(read(join(elsewhere, 'stolen'))).toBe('')
    expect(await run('echo $HOME; ls -d /evil')).not.toMatch(/^\/evil/)
    // The operator may start what he likes, also below it.
    const free = await m.client.spawnSession({ ...ask, parent: one.id, isolation: 'none' })
    expect(free.isolation).toBe('none')
  })

  test('[MUS-210] a folder that holds the state folder or the home of the user is refused, and nothing starts', async () => {
    const m = await sessionDaemon()
    for (const working_dir of ['/', m.home, join(m.home, 'sessions'), join(m.home, '..')])
      await expect(m.spawnShell({ isolation: 'bwrap', working_dir })).rejects.toMatchObject({
        code: 'invalid',
      })
    expect(m.processes()).toEqual([])
    expect((await m.client.listSessions({ limit: 10 })).sessions).toEqual([])
  })

  test('[MUS-210] where bwrap is missing or may not work, the spawn is refused with what to do', async () => {
    const bin = tempFolder('miso-bin-')
    const programs = `${bin}:${process.env['PATH']}`
    writeFileSync(
      join(bin, 'bwrap'),
      '#!/bin/sh\ncase $1 in --version) echo bubblewrap 0.8.0 ;; *) echo "No permissions to create new namespace" >&2; exit 1 ;; esac\n',
      { mode: 0o755 },
    )
    const m = await sessionDaemon({
      env: { PATH: programs },
      config: 'clis: { shell: { command: bash } }\nsessions: { isolation: bwrap }\n',
    })
    const work = tempFolder('miso-')
    await expect(m.spawnShell({ working_dir: work })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/No permissions.*--isolation none/),
    })
    expect((await m.client.listSessions({ limit: 10 })).sessions).toEqual([])
    expect(await m.spawnShell({ working_dir: work, isolation: 'none' })).toMatchObject({ isolation: 'none' })
  })
})
