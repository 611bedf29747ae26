import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commitFiles, repository, runGit } from '../support/git-repository.ts'
import { eventually, sessionDaemon } from '../support/session-daemon.ts'
import { shared } from '../support/shared.ts'
import { handOver, users } from '../support/users.ts'
import { withoutWalls } from '../support/without-walls.ts'

type Daemon = Awaited<ReturnType<typeof sessionDaemon>>

/** A shell behind walls, in a folder of its own, and what it says to a line that is typed into it. */
async function walled(m: Daemon, more: Record<string, unknown> = {}) {
  const work = m.folder('miso-')
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

describe.each(users)('behind the walls of bwrap, as $who', ({ uid }) => {
  const usual = shared(() => sessionDaemon({ uid }))

  test('[MUS-210] a session writes only where it works, and its own sm and token work', async () => {
    const m = await usual()
    const others = m.processes()
    const one = await walled(m)
    expect(one).toMatchObject({ isolation: 'bwrap' })
    const outside = m.folder('miso-outside-')
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
      `find ${m.home} -type f -not -path "${m.home}/sessions/${thief.session_id}/*" -not -path "${m.home}/bin/*" -not -path "${m.home}/.cache/*" -not -path "${m.home}/compiled/*"`,
      `cat ${m.home}/operator.token ${m.home}/vault.key ${m.home}/sessions/${victim.session_id}/token`,
      `umount ${m.home} && cat ${m.home}/operator.token`,
      `unshare -Urm sh -c 'umount ${m.home}; umount /tmp; cat ${m.home}/operator.token'`,
      `mount --bind / /tmp && cat /tmp${m.home}/operator.token`,
      `cat /proc/1/root${m.home}/operator.token /proc/self/root${m.home}/operator.token`,
      // By links of every kind.
      `ln -s ${m.home}/operator.token soft; cat soft; ln ${m.home}/operator.token hard; cat hard`,
      `ln -s ${m.home} state; ls -A state/vault; cat state/operator.token`,
      'ln $(command -v env) program && echo >> program && echo owned',
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
      expect(said, line).not.toMatch(/alive|typed|socket\n|completed|killed\n|owned/)
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
    const work = m.folder('miso-')
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
    const elsewhere = m.folder('miso-else-')
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

  test('[MUS-317] it starts nothing that would work outside: no built-in agent, no crew and no script', async () => {
    const m = await usual()
    const one = await walled(m)
    const { client } = m.as(one.session_id)
    const project_root = one.work
    mkdirSync(join(one.work, 'workflows'))
    writeFileSync(
      join(one.work, 'workflows', 'mine.mjs'),
      "export const meta = { name: 'mine', description: 'x' }\nawait agent('x')\n",
    )
    for (const asked of [
      client.chat({ project_root, message: 'x' }),
      client.startCrew({ project_root, request: 'x' }),
      client.startScript({ project_root, script: 'workflows/mine.mjs' }),
    ])
      await expect(asked).rejects.toMatchObject({
        code: 'denied',
        message: expect.stringContaining('sandbox'),
      })
    expect((await m.client.listApprovals({ session: one.id })).approvals).toEqual([])
  })

  test('[MUS-316] no program that it could have written builds the walls of another, though it is first on the PATH', async () => {
    const m = await usual()
    const work = m.folder('miso-')
    const outside = m.folder('miso-outside-')
    mkdirSync(join(work, 'bin'))
    const path = `${join(work, 'bin')}:${process.env['PATH']}`
    const one = await walled(m, { working_dir: work, environment: { ...process.env, PATH: path } })
    const trap = `#!/bin/sh\n: > ${outside}/fired\nexec /usr/bin/bwrap "$@"\n`
    writeFileSync(join(work, 'bin', 'bwrap'), trap, { mode: 0o755 })
    const child = await m.as(one.session_id).client.spawnSession({ agent_type: 'shell', prompt: '' })
    const run = runner(m, child.tmux_session, work)
    expect(await run('echo up; command -v bwrap')).toBe(`up\n${join(work, 'bin', 'bwrap')}\nexit 0`)
    expect(readdirSync(outside)).toEqual([])
  })

  test('[MUS-316] what it leaves in its folder opens no wall of the next session there', async () => {
    const m = await usual()
    const one = await walled(m)
    const elsewhere = m.folder('miso-else-')
    await one.run(
      `mkdir admin; echo "gitdir: ${one.work}/admin" > .git; echo ${elsewhere} > admin/commondir; echo ${one.work}/.git > admin/gitdir`,
    )
    const next = await walled(m, { working_dir: one.work })
    const run = runner(m, next.tmux_session, one.work)
    await run(`touch ${elsewhere}/stolen`)
    expect(readdirSync(elsewhere)).toEqual([])
  })

  /** Git of whoever runs the tests, in a repository of somebody else. */
  const anyOwner = ['-c', 'safe.directory=*']

  /** All by which git finds programs to run, in the repositories below a folder. */
  const settingsIn = (folder: string) => {
    const find =
      'find . -path "*/.git" -type f -o -path "*.git/*" ( -name "config*" -o -name commondir -o -name gitdir -o -path "*/hooks/*" ) -type f'
    const script = `${find.replaceAll('(', '\\(').replaceAll(')', '\\)')} | sort | xargs sha1sum`
    return execFileSync('bash', ['-c', script], { cwd: folder, encoding: 'utf8' })
  }

  const traps = (git: string) => [
    `echo "#!/bin/sh" > ${git}/hooks/pre-commit`,
    `echo "#!/bin/sh" > ${git}/hooks/new && chmod +x ${git}/hooks/new`,
    `echo "[core] fsmonitor = evil" >> ${git}/config`,
    `rm -f ${git}/config; echo "[core]" > ${git}/config`,
    `mv ${git}/hooks ${git}/old; mkdir ${git}/hooks; echo x > ${git}/hooks/pre-commit`,
    `mv ${git} ${git}-moved && cp -r ${git}-moved ${git} && echo "[core]" >> ${git}/config`,
  ]

  test('[MUS-357] what git would run later stays as it is in every repository of its folder, and commits work', async () => {
    const m = await usual()
    const work = repository(join(m.folder('miso-'), 'work'))
    const inner = repository(join(work, 'libs', 'inner'))
    commitFiles(work, { 'a.txt': 'a\n', '.gitignore': '/libs\n' })
    commitFiles(inner, { 'b.txt': 'b\n' })
    runGit(work, 'config', 'extensions.worktreeConfig', 'true')
    const tree = join(work, '..', 'tree')
    runGit(work, 'worktree', 'add', '-q', '-b', 'theirs', tree)
    handOver(join(work, '..'), uid)
    const one = await walled(m, { working_dir: work })
    const run = runner(m, one.tmux_session, work)
    await run('git status')
    const before = settingsIn(join(work, '..'))
    for (const line of [
      ...traps('.git'),
      ...traps('libs/inner/.git'),
      'git config core.fsmonitor ./evil',
      // Where the repository says that it is read.
      'echo x > .git/config.worktree',
      'git config --worktree core.fsmonitor ./evil',
      'echo x > .git/worktrees/tree/config.worktree',
      'echo ../fake > .git/worktrees/tree/commondir',
      'echo /x/.git > .git/worktrees/tree/gitdir',
    ])
      expect(await run(`${line} && echo took`), line).not.toMatch(/^took/m)
    expect(settingsIn(join(work, '..'))).toBe(before)
    const commit = 'git -c user.name=a -c user.email=a@b commit -q'
    for (const line of [
      `git checkout -q -b side && echo more >> a.txt && ${commit} -am side`,
      `cd libs/inner && echo more >> b.txt && ${commit} -am inner`,
      `git checkout -q -b other HEAD~1 && echo x > x && git add x && ${commit} -m other && git -c user.name=a -c user.email=a@b merge -q --no-edit side`,
      'git -c user.name=a -c user.email=a@b rebase -q HEAD~1 && git branch -D side && git tag t && git stash list',
      'git worktree add -q own -b own && git worktree remove own && git branch -D own',
    ])
      expect(await run(line), line).toContain('exit 0')
    expect(runGit(work, ...anyOwner, 'log', '--format=%s', 'other').split('\n')).toEqual(
      expect.arrayContaining(['other', 'side']),
    )
    expect(settingsIn(join(work, '..'))).toBe(before)
  })

  test('[MUS-357] of a linked work tree neither the link nor the settings of its repository change', async () => {
    const m = await usual()
    const main = repository(join(m.folder('miso-'), 'main'))
    commitFiles(main, { 'a.txt': 'a\n', 'sub/b.txt': 'b\n' })
    runGit(main, 'config', 'extensions.worktreeConfig', 'true')
    const tree = join(main, '..', 'tree')
    runGit(main, 'worktree', 'add', '-q', '-b', 'side', tree)
    handOver(join(main, '..'), uid)
    const git = join(main, '.git')
    const lines = [
      ...traps(git),
      `echo x > ${git}/HEAD`,
      `echo x > ${git}/config.worktree`,
      `echo x > ${git}/worktrees/tree/commondir`,
      `echo x > ${git}/worktrees/tree/config.worktree`,
      `mkdir ${git}/worktrees/other`,
    ]
    const one = await walled(m, { working_dir: tree })
    const run = runner(m, one.tmux_session, tree)
    const before = settingsIn(join(main, '..'))
    for (const line of [
      ...lines,
      `echo "gitdir: ${tree}/evil" > .git`,
      `rm .git; echo "gitdir: ${tree}/evil" > .git`,
    ])
      expect(await run(`${line} && echo took`), line).not.toMatch(/^took/m)
    expect(settingsIn(join(main, '..'))).toBe(before)
    const commit = 'git -c user.name=a -c user.email=a@b commit -q'
    expect(await run(`echo more > c && git add c && ${commit} -m more && git tag t`)).toContain('exit 0')
    expect(runGit(main, ...anyOwner, 'log', '-1', '--format=%s', 'side')).toContain('more')
    // A session below its root has the repository open, too.
    const below = await walled(m, { working_dir: join(tree, 'sub') })
    const runBelow = runner(m, below.tmux_session, join(tree, 'sub'))
    for (const line of lines) expect(await runBelow(`${line} && echo took`), line).not.toMatch(/^took/m)
    expect(settingsIn(join(main, '..'))).toBe(before)
  })

  test('[MUS-357] what would have git read settings elsewhere is taken away, told, and gone with the session', async () => {
    const m = await usual()
    const work = repository(join(m.folder('miso-'), 'work'))
    commitFiles(work, { 'a.txt': 'a\n' })
    handOver(join(work, '..'), uid)
    const one = await walled(m, { working_dir: work })
    const run = runner(m, one.tmux_session, work)
    const trap = 'mkdir -p fake/objects fake/refs; echo ../fake > .git/commondir'
    await run(trap)
    await eventually(
      async () => existsSync(join(work, '.git/commondir')),
      (isThere) => !isThere,
    )
    const told = async () =>
      (await m.client.listEvents({ session: one.id, type: 'decision.made', limit: 9 })).events
    await eventually(told, (events) => events.length > 0)
    expect((await told())[0]?.payload).toMatchObject({ candidates: [join(work, '.git/commondir')] })
    await run(trap)
    await m.client.killSession({ id: one.session_id, force: true })
    expect(existsSync(join(work, '.git/commondir'))).toBe(false)
  })

  test('[MUS-210] a folder that holds the state folder or the home of the user is refused, and nothing starts', async () => {
    const m = await sessionDaemon({ uid })
    for (const working_dir of ['/', m.home, join(m.home, 'sessions'), join(m.home, '..')])
      await expect(m.spawnShell({ isolation: 'bwrap', working_dir })).rejects.toMatchObject({
        code: 'invalid',
      })
    expect(m.processes()).toEqual([])
    expect((await m.client.listSessions({ limit: 10 })).sessions).toEqual([])
  })

  test('[MUS-210] where bwrap is missing or may not work, the spawn is refused with what to do', async () => {
    const m = await sessionDaemon({
      uid,
      env: withoutWalls(),
      config: 'clis: { shell: { command: bash } }\nsessions: { isolation: bwrap }\n',
    })
    const work = m.folder('miso-')
    await expect(m.spawnShell({ working_dir: work })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/No permissions.*--isolation none/),
    })
    expect((await m.client.listSessions({ limit: 10 })).sessions).toEqual([])
    expect(await m.spawnShell({ working_dir: work, isolation: 'none' })).toMatchObject({ isolation: 'none' })
  })
})
