import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runProgram } from '../cli/run-sm.ts'
import { smProgram } from '../support/programs.ts'
import { eventually } from '../support/session-daemon.ts'
import { shared } from '../support/shared.ts'
import { standInClaude } from '../support/stand-in-claude.ts'

type World = Awaited<ReturnType<typeof standInClaude>>

const usual = shared(() => standInClaude())

const sm = (c: World, args: readonly string[], env: Record<string, string> = {}) =>
  runProgram(process.execPath, [smProgram, ...args], {
    cwd: c.work,
    env: { PATH: process.env['PATH'], HOME: c.home, MUSTER_HOME: c.home, ...env },
  })

const git = (folder: string, ...args: string[]) =>
  execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' })

/** The folder of the stand-in as a repository with one commit. */
function repository(c: World): void {
  git(c.work, 'init', '-q', '-b', 'main')
  git(c.work, 'config', 'user.email', 'a@b')
  git(c.work, 'config', 'user.name', 'a')
  writeFileSync(join(c.work, 'kept.txt'), 'one\n')
  git(c.work, 'add', '-A')
  git(c.work, 'commit', '-qm', 'first')
}

/** In the middle of a turn, with a call that runs: what is calm on its screen does not make it rest. */
async function works(c: World, session: { id: string; session_id: string }): Promise<void> {
  await c.turn(session, { isOpen: true })
  const call = { tool_name: 'Bash', tool_input: { command: 'make' }, tool_use_id: 'long' }
  await c.hook(session, { hook_event_name: 'PreToolUse', ...call })
}

test('[SM-85] before a kill the state and what is unsaved are shown: an open turn, messages, files', async () => {
  const c = await usual()
  repository(c)
  writeFileSync(join(c.work, 'new.txt'), 'new')
  const parent = await c.spawn({ name: 'em' })
  const child = await c.spawn({ parent: parent.session_id })
  await works(c, child)
  await c.client.sendMessage({ id: child.id, text: 'and the tests' })
  const { sessions } = await c.m.as(parent.session_id).client.listUnsaved({ id: child.session_id })
  expect(sessions.map(({ unsaved }) => unsaved)).toEqual([
    [
      expect.stringContaining('an open turn'),
      expect.stringMatching(/^\d messages? not delivered yet$/),
      `1 uncommitted file in ${c.work} (new.txt)`,
    ],
  ])
  const { code, stderr, stdout } = await sm(c, ['kill', child.session_id])
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('Killed') })
  expect(stderr).toContain(`(${child.session_id}) | running | `)
  expect(stderr).toContain(`  unsaved: 1 uncommitted file in ${c.work} (new.txt)\n`)
  expect(existsSync(join(c.work, 'new.txt'))).toBe(true)
})

test('[SM-85] at a terminal a person is asked first, and no is no', async () => {
  const c = await usual()
  const child = await c.spawn()
  await works(c, child)
  const shell = await c.spawn({ agent_type: 'shell', prompt: '' })
  const type = (text: string) => c.tmux('send-keys', '-t', `=${shell.tmux_session}:`, text, 'Enter')
  const screen = async () => c.tmux('capture-pane', '-p', '-J', '-t', `=${shell.tmux_session}:`)
  // As a person: the shell of a session would act for that session.
  const person = `env -u MUSTER_SESSION -u MUSTER_TOKEN sm kill ${child.session_id}`
  // What is typed before a shell reads may be thrown away as it starts.
  await eventually(screen, (text) => /[$#]$/.test(text.trim()))
  type(person)
  await eventually(screen, (text) => text.includes('End it anyway? [y/N]'))
  type('n')
  await eventually(screen, (text) => text.includes('nothing was ended'))
  expect((await c.session(child)).completion_status).toBeNull()
  type('clear')
  await eventually(screen, (text) => !text.includes('nothing was ended'))
  type(person)
  await eventually(screen, (text) => text.includes('End it anyway? [y/N]'))
  type('y')
  await eventually(
    () => c.session(child),
    ({ completion_status }) => completion_status === 'killed',
  )
})

test('[SM-83] kill --force ends it at once: no key is pressed and no grace is given', async () => {
  const c = await standInClaude({
    clis: {
      deaf: { command: 'bash', args: ['-c', 'trap "" TERM INT HUP; echo deaf; while :; do sleep 1; done'] },
    },
  })
  const [deaf, asked] = [await c.spawn({ agent_type: 'deaf' }), await c.spawn()]
  await eventually(
    async () => c.tmux('capture-pane', '-p', '-t', `=${deaf.tmux_session}:`),
    (text) => text.includes('deaf'),
  )
  const { killed, left } = await c.client.killSession({ id: deaf.id, force: true, reason: 'stuck' })
  expect({ left, detail: killed.map(({ status, detail }) => [status, detail]) }).toEqual({
    left: [],
    detail: [['killed', 'stuck']],
  })
  expect(c.processes().length).toBeGreaterThan(0)
  await c.client.killSession({ id: asked.id, force: true })
  expect(c.processes()).toEqual([])
})

test('[SM-73][MUS-118] sm down leaves sessions running; sm down --sessions ends each as killed, then the daemon', async () => {
  const c = await standInClaude()
  const parent = await c.spawn()
  await c.spawn({ parent: parent.session_id })
  const left = await sm(c, ['down'])
  expect(left).toMatchObject({ code: 0, stdout: 'Daemon stopped. Sessions keep running.\n' })
  expect(c.processes()).toHaveLength(2)
  await c.m.restart()
  expect(await c.session(parent)).toMatchObject({ completion_status: null, is_alive: true })
  const denied = await sm(c, ['down', '--sessions'], {
    MUSTER_SESSION: parent.id,
    MUSTER_TOKEN: c.m.as(parent.session_id).token,
  })
  expect(denied.code).toBe(5)
  const ended = await sm(c, ['down', '--sessions'])
  expect(ended).toMatchObject({
    code: 0,
    stdout: 'Ended 2 sessions, then stopped the daemon.\n',
  })
  expect(c.processes()).toEqual([])
  expect(c.tmux('list-sessions', '-F', '#{session_name}').trim()).toBe('')
  await c.m.restart()
  const { events } = await c.client.listEvents({ type: 'session.completed', limit: 10 })
  expect(events.map(({ payload }) => payload)).toEqual([
    { outcome: 'killed', reason: 'sm down --sessions' },
    { outcome: 'killed', reason: 'sm down --sessions' },
  ])
})

test('[SM-97][MUS-146] --worktree: a child on a branch of its own outside the checkout, which goes only when nothing is lost', async () => {
  const c = await standInClaude()
  repository(c)
  const parent = await c.spawn()
  const beside = await c.spawn({ parent: parent.session_id })
  expect(beside).toMatchObject({ working_dir: c.work, worktree: null, permission_mode: 'manual' })
  const spawned = await sm(c, ['spawn', 'claude', 'do it', '--worktree', '--name', 'fix7', '--json'])
  const child = JSON.parse(spawned.stdout)
  const path = join(c.home, 'worktrees', child.session_id)
  const worktree = { path, branch: 'muster/claude-fix7', base: git(c.work, 'rev-parse', 'HEAD').trim() }
  expect(child).toMatchObject({ working_dir: path, worktree, permission_mode: 'acceptEdits' })
  expect(git(path, 'branch', '--show-current').trim()).toBe('muster/claude-fix7')
  expect((await c.launched(child)).env['PWD']).toBe(path)
  expect(await c.session(child)).toMatchObject({ worktree, working_dir: path })
  const text = await sm(c, ['spawn', 'claude', 'more', '--worktree=fix/8'])
  expect(text.stdout).toMatch(/\nWork tree: .*\/worktrees\/[0-9a-f]{8} on branch fix\/8\n/)
  expect(
    (await sm(c, ['status'], { MUSTER_SESSION: child.id, MUSTER_TOKEN: c.m.as(child.session_id).token }))
      .stdout,
  ).toContain(`Work tree: ${path} on branch muster/claude-fix7\n`)
  expect(await sm(c, ['spawn', 'claude', 'x', '--worktree=fix/8'])).toMatchObject({ code: 4 })
  expect(await sm(c, ['spawn', 'claude', 'x', '--worktree=a..b'])).toMatchObject({ code: 2 })

  writeFileSync(join(path, 'new.txt'), 'work')
  const kept = await c.client.killSession({ id: child.id, force: true })
  expect(kept.killed).toMatchObject([{ worktree }])
  expect(existsSync(join(path, 'new.txt'))).toBe(true)
  const clean = await c.client.getSession({ id: /\/worktrees\/([0-9a-f]{8}) /.exec(text.stdout)?.[1] ?? '' })
  const gone = await c.client.killSession({ id: clean.id, force: true })
  expect(gone.killed).toMatchObject([{ worktree: null }])
  expect(existsSync(clean.working_dir ?? '')).toBe(false)
  expect(git(c.work, 'branch', '--list', 'fix/8')).toBe('')
  expect(git(c.work, 'status', '--porcelain')).toBe('')
})
