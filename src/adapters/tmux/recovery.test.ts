import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { never, type Recorded, tempTmux, until } from '../../../test/support/temp-tmux.ts'
import type { Clock } from '../../ports/clock.ts'
import { systemClock } from '../system/clock.ts'

const sleeper = ['sleep', '600']
const kinds = (terminal: Recorded) => terminal.events.map(({ kind }) => kind)
const isAlive = (pid: number) => existsSync(`/proc/${pid}`)

/** Stops a server until the answer is called, at the end of the test at the latest. */
function pause({ server }: { readonly server: string }): () => void {
  const pid = Number.parseInt(server, 10)
  process.kill(pid, 'SIGSTOP')
  const goOn = () => {
    process.kill(pid, 'SIGCONT')
  }
  onTestFinished(goOn)
  return goOn
}

/** Time runs fifty times as fast. */
const fast: Clock = {
  ...systemClock,
  monotonic: () => systemClock.monotonic() * 50,
  sleep: (ms, signal) => systemClock.sleep(ms / 50, signal),
}

/** A clock that lets nobody go on until it is opened. */
function gated() {
  const gate = Promise.withResolvers<void>()
  let isShut = false
  const clock: Clock = {
    ...systemClock,
    sleep: async (ms, signal) => {
      await systemClock.sleep(ms, signal)
      if (isShut) await gate.promise
    },
  }
  return {
    clock,
    shut: () => {
      isShut = true
    },
    open: () => {
      isShut = false
      gate.resolve()
    },
  }
}

test.each([
  ['killed', (pid: number, _tmux: (...args: string[]) => string) => process.kill(pid, 'SIGKILL')],
  ['told to end', (_pid: number, tmux: (...args: string[]) => string) => tmux('kill-server')],
])('[MUS-234] a server that is %s is told as lost and as died, and a new one is there', async (_how, end) => {
  const { open, request, tmux } = tempTmux()
  const terminal = await open()
  const old = await terminal.open(request('eng-1', sleeper), never)
  end(Number.parseInt(old.server, 10), tmux)
  await terminal.event({ kind: 'restored' })
  expect(terminal.events).toEqual([
    { kind: 'lost' },
    { kind: 'died', server: old.server },
    { kind: 'restored' },
  ])
  expect(await terminal.panes(never)).toEqual([])

  // The new server gives the same ids again: the old terminal must not be taken for the new one.
  const young = await terminal.open(request('eng-2', sleeper), never)
  expect([young.session, young.pane]).toEqual([old.session, old.pane])
  for (const act of [
    () => terminal.paste(old, { text: 'x', id: 'm1' }, never),
    () => terminal.keys(old, { keys: ['C-c'] }, never),
    () => terminal.capture(old, never),
  ])
    await expect(act()).rejects.toMatchObject({ code: 'not_found' })
  await terminal.close(old, never)
  expect((await terminal.panes(never)).map(({ name }) => name)).toEqual(['eng-2'])
})

test('[MUS-234] what happens while the control client is away is told before it is back', async () => {
  const { open, request, tmux, folder } = tempTmux()
  const gate = gated()
  const terminal = await open(gate.clock)
  const go = join(folder, 'go')
  const waits = ['sh', '-c', `until test -e ${go}; do sleep 0.02; done; exit 9`]
  const dies = await terminal.open(request('eng-1', waits), never)
  const goes = await terminal.open(request('eng-2', sleeper), never)
  const stays = await terminal.open(request('eng-3', sleeper), never)

  gate.shut()
  process.kill(Number(tmux('list-clients', '-F', '#{client_pid}')), 'SIGKILL')
  await terminal.event({ kind: 'lost' })
  tmux('kill-session', '-t', goes.session)
  writeFileSync(go, '')
  await until(() => tmux('list-panes', '-t', dies.session, '-F', '#{pane_dead}') === '1\n')
  expect(kinds(terminal)).toEqual(['lost'])
  const asked = terminal.panes(never)
  gate.open()
  await terminal.event({ kind: 'exited', pane: dies.pane, code: 9 })
  await terminal.event({ kind: 'restored' })
  expect(terminal.events).toContainEqual({ kind: 'closed', server: goes.server, session: goes.session })
  expect(kinds(terminal).toSorted()).toEqual(['closed', 'exited', 'lost', 'restored'])
  expect((await asked).map(({ pane }) => pane)).toEqual([dies.pane, stays.pane])
  expect(isAlive(stays.pid)).toBe(true)
})

test.each([
  ['detached', ['detach-client', '-s', 'muster-anchor']],
  ['without its anchor', ['kill-session', '-t', '=muster-anchor']],
])(
  '[MUS-234] a control client that is %s comes back, and every session is still there',
  async (_how, command) => {
    const { open, request, tmux } = tempTmux()
    const terminal = await open()
    const one = await terminal.open(request('eng-1', sleeper), never)
    tmux(...command)
    await terminal.event({ kind: 'restored' })
    expect(kinds(terminal)).toEqual(['lost', 'restored'])
    expect((await terminal.panes(never)).map(({ pid }) => pid)).toEqual([one.pid])
    expect(tmux('list-sessions', '-F', '#{session_name}').split('\n')).toContain('muster-anchor')
  },
)

test('[MUS-234] opens that the connection breaks in end as a session or as an error, never as both or neither', async () => {
  const { open, request, tmux } = tempTmux()
  const terminal = await open()
  const [client] = tmux('list-clients', '-F', '#{client_pid}').split('\n')
  const opens = Array.from({ length: 40 }, (_, i) => terminal.open(request(`eng-${i}`, sleeper), never))
  const first = await Promise.race(opens)
  process.kill(Number(client), 'SIGKILL')
  const settled = await Promise.allSettled(opens)
  const opened = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  for (const result of settled)
    if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'unavailable' })
  const byPane = (list: readonly { pane: string; pid: number }[]) =>
    list.map(({ pane, pid }) => `${pane} ${pid}`).toSorted()
  expect(byPane(await terminal.panes(never))).toEqual(byPane(opened))
  expect(opened).toContainEqual(first)
})

test('[MUS-234] a server that hangs is a timeout, and used again when it goes on', async () => {
  const { open, request } = tempTmux()
  const terminal = await open(fast)
  const one = await terminal.open(request('eng-1', sleeper), never)
  const goOn = pause(one)
  await expect(terminal.keys(one, { keys: ['x'] }, never)).rejects.toMatchObject({ code: 'timeout' })
  await expect(terminal.keys(one, { keys: ['x'] }, never)).rejects.toThrow(
    'the tmux server cannot be reached',
  )
  goOn()
  await terminal.event({ kind: 'restored' })
  expect((await terminal.panes(never)).map(({ pane }) => pane)).toEqual([one.pane])
  expect(kinds(terminal)).toEqual(['lost', 'restored'])
})

test('[MUS-234] a call that is aborted ends at once, and the next are answered as if it had not been', async () => {
  const { open, request } = tempTmux()
  const terminal = await open()
  const one = await terminal.open(request('eng-1', sleeper), never)
  const goOn = pause(one)
  const stop = new AbortController()
  const aborted = terminal.capture(one, stop.signal)
  const next = terminal.panes(never)
  // By then both have been sent.
  await turn()
  stop.abort(new Error('enough'))
  await expect(aborted).rejects.toThrow('enough')
  goOn()
  expect((await next).map(({ pane }) => pane)).toEqual([one.pane])
  expect(await terminal.capture(one, never)).toMatchObject({ width: 80, height: 24 })
})

test('[SM-73] a daemon that is killed leaves its terminals, and the next finds them', async () => {
  const { open, socket, folder, tmux } = tempTmux()
  const holder = join(import.meta.dirname, '../../../test/support/terminal-holder.mjs')
  const daemon = spawn(process.execPath, [holder, socket, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => {
    daemon.kill('SIGKILL')
  })
  const [line] = (await once(daemon.stdout.setEncoding('utf8'), 'data')) as [string]
  const held = JSON.parse(line)
  // What it asked for cannot be answered before it is dead.
  const goOn = pause(held)
  await systemClock.sleep(50, never)
  daemon.kill('SIGKILL')
  await once(daemon, 'exit')
  goOn()
  expect(isAlive(held.pid)).toBe(true)

  const terminal = await open()
  // The client of the dead one is gone, or is ended now.
  await until(() => tmux('list-clients').split('\n').length === 2)
  expect(await terminal.panes(never)).toMatchObject([{ ...held, name: 'held', isDead: false }])
  await terminal.close(held, never)
  expect(await terminal.event({ kind: 'closed' })).toEqual({
    kind: 'closed',
    server: held.server,
    session: held.session,
  })
})

test('[MUS-234] release leaves everything running and ends the client; later calls are refused', async () => {
  const { open, request, tmux } = tempTmux()
  const terminal = await open()
  const one = await terminal.open(request('eng-1', sleeper), never)
  await terminal.release()
  expect(tmux('list-clients')).toBe('')
  expect(isAlive(one.pid)).toBe(true)
  await expect(terminal.panes(never)).rejects.toMatchObject({ code: 'unavailable' })
  expect(terminal.events).toEqual([])
  await terminal.release()
})

test('[MUS-234] release while the connection is being made again ends that too', async () => {
  const { open, tmux } = tempTmux()
  const gate = gated()
  const terminal = await open(gate.clock)
  gate.shut()
  tmux('kill-server')
  await terminal.event({ kind: 'lost' })
  const released = terminal.release()
  gate.open()
  await released
  expect(() => tmux('list-clients')).toThrow(/no server|No such file|error connecting|exited unexpectedly/)
  expect(kinds(terminal)).toEqual(['lost'])
})
