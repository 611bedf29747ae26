import { spawnSync } from 'node:child_process'
import { afterAll, describe, expect, test } from 'vitest'
import { attachPlan, runHere } from '../../src/cli/attach-terminal.ts'
import { sessionCommands } from '../../src/cli/commands/sessions.ts'
import { redrawing } from '../../src/cli/terminal.ts'
import { collect, world } from './world.ts'

const { attach } = sessionCommands

const argv = ['tmux', '-L', 'muster', 'attach-session', '-t', '=claude-abc123']

describe('how a terminal is shown', () => {
  test('[SM-102] outside of tmux the command runs as it is', () => {
    expect(attachPlan(argv, 'engineer', {})).toEqual({ way: 'here', argv })
  })

  test('[SM-102] inside another tmux it gets a window there, without a shell and without that tmux around it', () => {
    expect(attachPlan(argv, 'engineer', { TMUX: '/tmp/tmux-1000/default,123,0' })).toEqual({
      way: 'window',
      argv: [
        ...'tmux -S /tmp/tmux-1000/default new-window -n engineer'.split(' '),
        ...'env -u TMUX -u TMUX_PANE'.split(' '),
        ...argv,
      ],
    })
  })

  test('[SM-103] on the server that is around us, that one only shows another session', () => {
    const around = { TMUX: '/tmp/tmux-1000/default,123,0' }
    const own = ['tmux', 'attach-session', '-t', '=claude-abc123']
    const switching = {
      way: 'switch',
      argv: ['tmux', '-S', '/tmp/tmux-1000/default', 'switch-client', '-t', '=claude-abc123'],
    }
    expect(attachPlan(own, 'engineer', around)).toEqual(switching)
    expect(
      attachPlan(['tmux', '-S', '/tmp/tmux-1000/default', 'attach', '-t', '=claude-abc123'], 'e', around),
    ).toEqual(switching)
    expect(attachPlan(argv, 'engineer', { TMUX: '/tmp/tmux-1000/muster,1,0' })).toMatchObject({
      way: 'switch',
    })
  })
})

describe('with a real tmux', () => {
  const [outer, inner] = [`mcli-outer-${process.pid}`, `mcli-inner-${process.pid}`]
  const tmux = (server: string, ...args: string[]) =>
    spawnSync('tmux', ['-f', '/dev/null', '-L', server, ...args], { encoding: 'utf8' })
  afterAll(() => {
    for (const server of [outer, inner]) tmux(server, 'kill-server')
  })

  test('[SM-4][SM-102] sm attach opens a window of the outer server that shows the session', async () => {
    tmux(inner, 'new-session', '-d', '-s', 'claude-abc123', 'sleep 1000')
    tmux(outer, 'new-session', '-d', '-x', '100', '-y', '30', 'sleep 1000')
    const socket = tmux(outer, 'display-message', '-p', '#{socket_path},#{pid},0').stdout.trim()
    const getAttach = async () => ({
      argv: ['tmux', '-L', inner, 'attach', '-t', '$0'],
      session_id: 'abc123',
      name: 'engineer-x',
    })
    const env = { PATH: process.env['PATH'] ?? '', TMUX: socket, TERM: 'xterm' }
    const { io, said } = world({ client: { getAttach }, env })
    await collect(attach.run({ session: 'abc123', print: false }, io))
    expect(said).toEqual(['engineer-x opens in a new tmux window; Ctrl-Q leaves it'])
    expect(tmux(outer, 'list-windows', '-F', '#{window_name}').stdout.split('\n')).toContain('engineer-x')
    await expect
      .poll(() => tmux(inner, 'list-clients').stdout.trim().split('\n').filter(Boolean))
      .toHaveLength(1)
  })
})

test('[SM-102] without a terminal there is nothing to attach to; --print and --json tell the command', async () => {
  const attached = { argv, session_id: 'abc123', name: 'engineer' }
  const client = { getAttach: async () => attached }
  await expect(
    collect(attach.run({ session: 'abc123', print: false }, world({ client }).io)),
  ).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringContaining('sm tail'),
  })
  const [data] = await collect(attach.run({ session: 'abc123', print: true }, world({ client }).io))
  expect(attach.render(data as never, {} as never, { session: '', print: true })).toBe(
    'tmux -L muster attach-session -t =claude-abc123',
  )
  const odd = { ...attached, argv: ['tmux', 'attach', '-t', '$1'] }
  expect(attach.render(odd, {} as never, { session: '', print: true })).toBe("tmux attach -t '$1'")
  expect(
    await collect(attach.run({ session: 'abc123', print: false }, world({ client, isJson: true }).io)),
  ).toEqual([attached])
})

test('[SM-102] a command that is not there or fails is told', async () => {
  await expect(runHere(['/no/such/tmux'], {})).rejects.toMatchObject({ code: 'not_found' })
  await expect(runHere(['sh', '-c', 'exit 3'], { PATH: process.env['PATH'] })).rejects.toMatchObject({
    code: 'failed',
    message: 'sh -c exit 3 ended with exit 3',
  })
})

test('[SM-32] what is drawn again covers what was there, row by row, and clears the rest', () => {
  const clear = '\u001b[K\n'
  expect(redrawing(['a', 'b'], 0)).toBe(`a${clear}b${clear}\u001b[J`)
  expect(redrawing(['a'], 2)).toBe(`\u001b[2A\ra${clear}\u001b[J`)
})
