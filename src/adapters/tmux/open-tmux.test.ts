import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { never, tempTmux, until } from '../../../test/support/temp-tmux.ts'
import { systemClock } from '../system/clock.ts'
import { openTmux } from './open-tmux.ts'

const sh = (script: string) => ['sh', '-c', script]

test('[SM-1] a program runs in a terminal of its own, with the size, folder and process that are told', async () => {
  const { open, request, folder, tmux } = tempTmux()
  const terminal = await open()
  const opened = await terminal.open(request('eng-1', ['sleep', '600'], { width: 133, height: 41 }), never)
  expect(opened).toMatchObject({ session: '$1', pane: '%1' })
  const program = () => readFileSync(`/proc/${opened.pid}/cmdline`, 'utf8').split('\0').join(' ')
  await until(() => program() === 'sleep 600 ')
  const told = tmux(
    'list-panes',
    '-t',
    '$1',
    '-F',
    '#{session_name} #{pane_width}x#{pane_height} #{session_path}',
  )
  expect(told).toBe(`eng-1 133x41 ${folder}\n`)
  const [info, ...others] = await terminal.panes(never)
  expect(others).toEqual([])
  expect(info).toMatchObject({ ...opened, name: 'eng-1', isDead: false, attached: 0 })
})

test.each([
  ['an exit code', 'exit 7', { code: 7 }],
  ['success', 'exit 0', { code: 0 }],
  ['SIGKILL', 'kill -9 $$', { signal: 'SIGKILL' }],
  ['SIGTERM', 'kill $$', { signal: 'SIGTERM' }],
  ['a later end', 'sleep 0.2; exit 3', { code: 3 }],
])('[SM-72] the end of a program is told once: %s', async (_what, script, ending) => {
  const { open, request } = tempTmux()
  const terminal = await open()
  const { server, pane } = await terminal.open(request('eng-1', sh(script)), never)
  expect(await terminal.event({ kind: 'exited' })).toEqual({ kind: 'exited', server, pane, ...ending })
  const [info] = await terminal.panes(never)
  const { code, signal } = ending as { code?: number; signal?: string }
  expect(info).toMatchObject({ isDead: true, ...(signal ? { exitSignal: signal } : { exitCode: code }) })
  await terminal.close(info as never, never)
  await terminal.event({ kind: 'closed' })
  expect(terminal.events).toHaveLength(2)
})

test('[MUS-234] a program that does not exist is told by its exit code', async () => {
  const { open, request } = tempTmux()
  const terminal = await open()
  await terminal.open(request('eng-1', ['/no/such/program']), never)
  expect(await terminal.event({ kind: 'exited' })).toMatchObject({ code: 127 })
})

test('[MUS-234] no end is told before open has answered', async () => {
  const { open, request } = tempTmux()
  const terminal = await open()
  const known = new Set<string>()
  const early: string[] = []
  terminal.listen((event) => event.kind === 'exited' && !known.has(event.pane) && early.push(event.pane))
  const opened = Array.from({ length: 20 }, async (_, i) => {
    const { pane } = await terminal.open(request(`eng-${i}`, ['true']), never)
    known.add(pane)
    return terminal.event({ kind: 'exited', pane })
  })
  await Promise.all(opened)
  expect(early).toEqual([])
})

test('[MUS-234] names that begin alike are never mixed up', async () => {
  const { open, request } = tempTmux()
  const terminal = await open()
  const ten = await terminal.open(request('eng-10', ['sleep', '600']), never)
  const one = await terminal.open(request('eng-1', ['sleep', '600']), never)
  await terminal.close(one, never)
  // Now only eng-10 is there, which `-t eng-1` would find.
  await terminal.close(one, never)
  await terminal.paste(one, { text: 'x', id: 'm1' }, never).then(
    () => expect.unreachable(),
    (error) => expect(error).toMatchObject({ code: 'not_found' }),
  )
  await expect(terminal.capture(one, never)).rejects.toMatchObject({ code: 'not_found' })
  await expect(terminal.keys(one, { keys: ['C-c'] }, never)).rejects.toMatchObject({ code: 'not_found' })
  expect((await terminal.panes(never)).map(({ name, pid }) => [name, pid])).toEqual([['eng-10', ten.pid]])
  expect(terminal.events).toEqual([{ kind: 'closed', server: one.server, session: one.session }])
})

test('[MUS-234] a name that is taken, a folder that is missing and a bad name are refused, and nothing is left', async () => {
  const { open, request, folder, tmux } = tempTmux()
  const terminal = await open()
  const first = await terminal.open(request('eng-1', ['sleep', '600']), never)
  const refusal = (name: string, more = {}) =>
    terminal.open(request(name, ['sleep', '600'], more), never).then(
      () => expect.unreachable(),
      (error) => `${error.code}: ${error.message}`,
    )
  expect(await refusal('eng-1')).toMatch(
    /^conflict: .*already a tmux session "eng-1"; close it or choose another name/,
  )
  expect(await refusal('eng-2', { workingDir: join(folder, 'none') })).toMatch(
    /^invalid: there is no folder .*none/,
  )
  expect(await refusal('eng-2', { workingDir: 'relative' })).toMatch(/^invalid/)
  expect(await refusal('eng.2')).toMatch(/^invalid: "eng.2" cannot name a terminal/)
  expect(await refusal('muster-anchor')).toMatch(/^invalid/)
  expect(await refusal('eng-2', { width: 0 })).toMatch(/^invalid: 0 is not a valid terminal size/)
  expect(await refusal('eng-2', { argv: ['x', 'y'.repeat(200_000)] })).toMatch(
    /^invalid: one argument has 200000/,
  )
  expect(tmux('list-sessions', '-F', '#{session_name}').trim().split('\n').sort()).toEqual([
    'eng-1',
    'muster-anchor',
  ])
  expect((await terminal.panes(never)).map(({ pid }) => pid)).toEqual([first.pid])
  await until(() => readdirSync(join(folder, 'launch')).length === 0)
})

test('[MUS-234] an open that is aborted while it runs leaves no session', async () => {
  const { open, request, folder } = tempTmux()
  const terminal = await open()
  const stop = new AbortController()
  const opening = terminal.open(request('eng-1', ['sleep', '600']), stop.signal)
  stop.abort(new Error('no longer wanted'))
  await expect(opening).rejects.toThrow('no longer wanted')
  expect(await terminal.panes(never)).toEqual([])
  await expect(terminal.open(request('eng-1', ['sleep', '600']), stop.signal)).rejects.toThrow(
    'no longer wanted',
  )
  expect(readdirSync(join(folder, 'launch'))).toEqual([])
  expect(terminal.events.filter(({ kind }) => kind !== 'closed')).toEqual([])
})

test('[SM-122] the program has the environment of the request and TERM; nothing of the daemon or of tmux leaks', async () => {
  const { open, request, folder } = tempTmux()
  process.env.MUSTER_TEST_SECRET = 'leak'
  const terminal = await open()
  delete process.env.MUSTER_TEST_SECRET
  const env = {
    PATH: '/usr/bin:/bin',
    LINES_2: 'one\ntwo\n',
    QUOTES: `'"\`$HOME \\`,
    UNICODE: 'é✓😀',
    EMPTY: '',
  }
  const out = join(folder, 'environ')
  await terminal.open(request('eng-1', sh(`cat /proc/$$/environ > ${out}`), { env }), never)
  await terminal.event({ kind: 'exited', code: 0 })
  const got = readFileSync(out, 'utf8').split('\0').filter(Boolean).sort()
  const wanted = Object.entries({ ...env, TERM: 'tmux-256color' }).map(([name, value]) => `${name}=${value}`)
  expect(got).toEqual(wanted.sort())
})

test('[MUS-234] the daemon is not in the environment of the server, which outlives it', async () => {
  const { open, tmux } = tempTmux()
  process.env.SM_SESSION_ID = 'ses_test'
  process.env.MUSTER_TEST_SECRET = 'leak'
  await open()
  delete process.env.SM_SESSION_ID
  delete process.env.MUSTER_TEST_SECRET
  const pid = tmux('display-message', '-p', '#{pid}').trim()
  expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toMatch(/SM_SESSION_ID|MUSTER_TEST_SECRET|VITEST/)
  const [parent, group] = execFileSync('ps', ['-o', 'ppid=,pgid=', '-p', pid], { encoding: 'utf8' })
    .trim()
    .split(/\s+/)
  expect(Number(parent)).not.toBe(process.pid)
  expect(group).toBe(pid)
})

test('[MUS-234] a prompt of 120 KB is one argument, and folders of any name work', async () => {
  const { open, request, folder, tmux } = tempTmux()
  const terminal = await open()
  const workingDir = join(folder, `a #[b #{pid} #(touch x) 'q" $HOME é`)
  mkdirSync(workingDir)
  const prompt = 'é'.repeat(60_000)
  const script = 'printf %s "$1" | wc -c > size; pwd > where'
  await terminal.open(
    request('eng-1', [...sh(script), 'sh', prompt], { workingDir, folder: workingDir }),
    never,
  )
  await terminal.event({ kind: 'exited', code: 0 })
  expect(readFileSync(join(workingDir, 'size'), 'utf8').trim()).toBe('120000')
  expect(readFileSync(join(workingDir, 'where'), 'utf8')).toBe(`${workingDir}\n`)
  expect(tmux('display-message', '-p', '-t', '=eng-1:', '#{session_path}')).toBe(`${workingDir}\n`)
})

test('[MUS-234] 50 terminals are opened at once, each with its own program', async () => {
  const { open, request, folder } = tempTmux()
  const terminal = await open()
  const all = await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      terminal.open(request(`eng-${i}`, sh(`echo ${i} > ${folder}/out-${i}; exit ${i}`)), never),
    ),
  )
  expect(new Set(all.map(({ pane }) => pane)).size).toBe(50)
  const ends = await Promise.all(all.map(({ pane }) => terminal.event({ kind: 'exited', pane })))
  expect(ends).toEqual(all.map(({ server, pane }, i) => ({ kind: 'exited', server, pane, code: i })))
  for (let i = 0; i < 50; i++) expect(readFileSync(join(folder, `out-${i}`), 'utf8')).toBe(`${i}\n`)
  expect(terminal.events).toHaveLength(50)
})

test('[MUS-234] a session or a pane that someone else kills is told as closed', async () => {
  const { open, request, tmux } = tempTmux()
  // Of a single pane tmux does not tell; the look that finds it comes sooner by this clock.
  const terminal = await open({ ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms / 50, signal) })
  const one = await terminal.open(request('eng-1', ['sleep', '600']), never)
  const two = await terminal.open(request('eng-2', ['sleep', '600']), never)
  tmux('kill-session', '-t', one.session)
  await terminal.event({ kind: 'closed', session: one.session })
  tmux('split-window', '-d', '-t', two.pane, 'sleep 600')
  tmux('kill-pane', '-t', two.pane)
  await terminal.event({ kind: 'closed', session: two.session })
  expect(terminal.events).toHaveLength(2)
})

test('[MUS-234] only panes that were opened here are listed, whatever people call them and theirs', async () => {
  const { open, request, tmux } = tempTmux()
  const terminal = await open()
  const one = await terminal.open(request('eng-1', ['sleep', '600']), never)
  tmux('rename-session', '-t', one.session, 'my|own name')
  tmux('split-window', '-d', '-t', one.pane, 'sleep 600')
  tmux('new-session', '-d', '-s', 'oth|er', 'sleep 600')
  expect(await terminal.panes(never)).toMatchObject([
    { ...one, name: 'my_own name', isDead: false, attached: 0 },
  ])
})

test('[SM-102] our own server has our settings, and a person attaches and leaves with Ctrl-Q', async () => {
  const { open, request, tmux, socket, folder } = tempTmux()
  writeFileSync(join(folder, '.tmux.conf'), 'set -g status on\nset -g prefix C-a\n')
  const terminal = await open()
  const opened = await terminal.open(request('eng-1', ['sleep', '600']), never)
  expect(terminal.attachArgv(opened)).toEqual([
    'tmux',
    '-S',
    expect.stringMatching(new RegExp(`/${socket}$`)),
    'attach',
    '-t',
    opened.session,
  ])
  const value = (...name: string[]) => tmux('show-options', ...name).trim()
  expect(value('-gv', 'status')).toBe('off')
  expect(value('-gv', 'prefix')).toBe('None')
  expect(value('-gv', 'mouse')).toBe('on')
  expect(value('-gv', 'history-limit')).toBe('50000')
  expect(value('-gwv', 'remain-on-exit')).toBe('on')
  expect(value('-sv', 'escape-time')).toBe('0')
  expect(value('-sv', 'focus-events')).toBe('on')
  expect(value('-sv', 'extended-keys')).toBe('on')
  expect(tmux('list-keys', '-T', 'root', 'C-q')).toContain('detach-client')

  // A second tmux is the person's terminal.
  const person = tempTmux()
  expect(await terminal.capture(opened, never)).not.toHaveProperty('lastKeyMs')
  const argv = terminal.attachArgv(opened).map((word) => `'${word}'`)
  person.tmux(
    '-f',
    '/dev/null',
    'new-session',
    '-d',
    '-s',
    'p',
    '-x',
    '100',
    '-y',
    '30',
    `env -u TMUX ${argv.join(' ')}`,
  )
  const attached = async (count: number) => {
    for (;;) {
      const [info] = await terminal.panes(never)
      if (info?.attached === count) return info
      await systemClock.sleep(10, never)
    }
  }
  await attached(1)
  await systemClock.sleep(1100, never)
  const pressed = systemClock.now()
  person.tmux('send-keys', '-t', 'p', 'x')
  await until(async () => ((await terminal.capture(opened, never)).lastKeyMs ?? 0) > pressed - 1000)
  expect((await terminal.capture(opened, never)).lastKeyMs).toBeLessThanOrEqual(systemClock.now())
  person.tmux('send-keys', '-t', 'p', 'C-q')
  await attached(0)
})

test('[MUS-245] a program is made to draw all of its screen again, and the size is what it was', async () => {
  const { open, request, tmux } = tempTmux()
  const terminal = await open()
  const draw =
    "process.stdout.on('resize', () => console.log('drawn', process.stdout.rows)); console.log('ready')"
  const idle = 'setInterval(() => {}, 1000)'
  const pane = await terminal.open(request('eng-1', [process.execPath, '-e', `${draw}; ${idle}`]), never)
  const lines = async () => (await terminal.capture(pane, never)).lines.filter((line) => line !== '')
  await until(async () => (await lines()).includes('ready'))
  // A program that gets no processor between the two sizes sees none of them: it is asked again, as a frozen one is.
  const drawn = async (): Promise<boolean> => {
    await terminal.redraw(pane, never)
    await systemClock.sleep(1000, never)
    return (await lines()).includes('drawn 24')
  }
  await until(drawn)
  expect(await terminal.capture(pane, never)).toMatchObject({ width: 80, height: 24 })
  expect(tmux('show-options', '-w', '-t', pane.pane, 'window-size')).toBe('')
})

test('[MUS-234] a tmux that is not there, or too old, is refused with how to install it', async () => {
  const { folder, socket } = tempTmux()
  const options = { socket, folder, clock: systemClock }
  await expect(openTmux({ ...options, command: join(folder, 'tmux') })).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/is not installed; install tmux with: apt install tmux/),
  })
  const old = join(folder, 'old-tmux')
  writeFileSync(old, '#!/bin/sh\necho tmux 2.9a\n', { mode: 0o700 })
  await expect(openTmux({ ...options, command: old })).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('tmux 3.2 or newer is needed, and this is tmux 2.9a'),
  })
})

test('[MUS-234] each terminal is kept with its owner, and those of another state folder on the same server are not told', async () => {
  const { socket, open, request } = tempTmux()
  const mine = await open()
  const other = await openTmux({ socket, folder: tempFolder(), clock: systemClock })
  onTestFinished(() => other.release())
  await mine.open(request('eng-1', ['sleep', '600'], { owner: 'ses_one' }), never)
  await other.open(request('eng-2', ['sleep', '600'], { owner: 'ses_two' }), never)
  expect((await mine.panes(never)).map(({ name, owner }) => [name, owner])).toEqual([['eng-1', 'ses_one']])
  expect((await other.panes(never)).map(({ name, owner }) => [name, owner])).toEqual([['eng-2', 'ses_two']])
  await expect(mine.open(request('eng-3', ['sleep', '600'], { owner: 'a b' }), never)).rejects.toMatchObject({
    code: 'invalid',
  })
})
