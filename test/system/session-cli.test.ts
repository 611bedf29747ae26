import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { describe, expect, test } from 'vitest'
import { commandOutputs } from '../../src/contract/cli/outputs.ts'
import type { CommandName } from '../../src/contract/cli.ts'
import { runProgram } from '../cli/run-sm.ts'
import { smProgram } from '../support/programs.ts'
import { eventually, sessionDaemon } from '../support/session-daemon.ts'
import { shared } from '../support/shared.ts'

type Managed = Awaited<ReturnType<typeof sessionDaemon>>

/** Runs `sm` from its source against a daemon, as a person or as a session. */
async function smOf(m: Managed, session?: { session_id: string; id: string }) {
  const env = await environmentOf(m, session)
  return (args: readonly string[], input = '') =>
    runProgram(process.execPath, [smProgram, ...args], { cwd: m.home, env, input })
}

async function environmentOf(m: Managed, session?: { session_id: string; id: string }) {
  const who =
    session === undefined
      ? {}
      : { MUSTER_SESSION: session.id, MUSTER_TOKEN: await tokenOf(m, session.session_id) }
  return { PATH: process.env['PATH'], HOME: m.home, MUSTER_HOME: m.home, TZ: 'UTC', ...who }
}

/** The token of a session; its program may not have started yet in its terminal. */
function tokenOf(m: Managed, shortId: string): Promise<string | undefined> {
  const look = async () => {
    try {
      return m.as(shortId).token
    } catch {
      return undefined
    }
  }
  return eventually(look, (token) => token !== undefined)
}

/** Starts `sm` and leaves it running. */
async function startSm(m: Managed, session: { session_id: string; id: string }, args: readonly string[]) {
  const env = await environmentOf(m, session)
  return spawn(process.execPath, [smProgram, ...args], {
    cwd: m.home,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

/** The data of a command, checked against what the table says that it prints. */
function dataOf(name: CommandName, stdout: string): unknown {
  const data: unknown = JSON.parse(stdout)
  expect(commandOutputs[name].safeParse(data).error).toBeUndefined()
  return data
}

describe('sm and a real daemon', () => {
  const usual = shared(() => sessionDaemon())

  test('[SM-130][SM-129] a parent spawns, lists, follows, is told, and kills, in the words of document 3', async () => {
    const m = await usual()
    const em = await m.spawnShell({ name: 'epic1041' })
    const sm = await smOf(m, em)
    expect(await sm(['me'])).toEqual({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(
        new RegExp(`^shell-epic1041 \\(${em.session_id}\\) \\| \\w+ \\| ${m.home}\n$`),
      ),
    })

    const first = await sm(['spawn', 'shell', '', '--name', 'eng-1042'])
    expect(first).toMatchObject({ code: 0, stderr: '' })
    const [, short = ''] =
      /^Spawned shell-eng-1042 \(([0-9a-f]{8})\) in tmux session custom-/.exec(first.stdout) ?? []
    expect(first.stdout.split('\n')[1]).toBe(`Attach with: sm attach ${short}`)
    const second = (await sm(['spawn', 'shell', '-', '--quiet'], '')).stdout.trim()
    expect(second).toMatch(/^[0-9a-f]{8}$/)

    expect((await sm(['children'])).stdout).toMatch(
      new RegExp(`^shell-eng-1042 \\(${short}\\)[^\n]*\nshell-${second} \\(${second}\\)[^\n]*\n$`),
    )
    dataOf('children', (await sm(['children', '--json'])).stdout)
    dataOf('progress', (await sm(['progress', short, '--json'])).stdout)

    const child = await m.client.getSession({ id: short })
    const asChild = await smOf(m, child)
    expect((await asChild(['checkpoint', 'Phase 1 (3/5)', '--metadata', 'coverage=0'])).stdout).toBe(
      'Checkpoint recorded\n',
    )
    expect((await asChild(['checkpoints'])).stdout).toMatch(/^\[\d\d:\d\d\] Phase 1 \(3\/5\)\n$/)
    expect((await asChild(['complete', 'Feature X done'])).stdout).toBe(
      'Session marked complete. Notifying parent.\n',
    )
    expect((await sm(['children'])).stdout).toContain(
      `(${short}) | completed | just now | "Feature X done"\n`,
    )
    for (const late of [
      ['checkpoint', 'one more'],
      ['complete', 'again'],
    ])
      expect(await asChild(late)).toMatchObject({
        code: 4,
        stderr: expect.stringContaining(`is already completed; continue it with: sm send ${short}`),
      })
    expect((await sm(['events'])).stdout).toContain(
      `completed: Child ${short} completed - "Feature X done"\n`,
    )
    expect((await sm(['wait', short])).stdout).toBe(
      `shell-eng-1042 (${short}) | completed | "Feature X done"\n`,
    )
    expect((await sm(['who'])).code).toBe(0)

    const killed = await sm(['kill', second])
    expect(killed).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`Killed shell-${second} (${second})`),
    })
    expect(dataOf('children', (await sm(['children', '--status', 'running', '--json'])).stdout)).toEqual({
      children: [],
    })
  })

  test('[SM-41][SM-92] events --follow tells each child’s end once, as it happens', async () => {
    const m = await usual()
    const em = await m.spawnShell()
    const sm = await smOf(m, em)
    const children = [
      await m.spawnShell({ parent: em.session_id }),
      await m.spawnShell({ parent: em.session_id }),
    ]
    const waited = sm(['wait', ...children.map(({ session_id }) => session_id)])
    const lines: string[] = []
    const following = await startSm(m, em, ['events', '--follow', '--type', 'completed'])
    const read = (async () => {
      for await (const line of createInterface({ input: following.stdout })) lines.push(line)
    })()
    for (const { session_id } of children)
      await m.client.completeSession({ id: session_id, message: `done ${session_id}` })
    expect((await waited).stdout.trim().split('\n')).toHaveLength(2)
    await eventually(
      async () => lines.length,
      (count) => count === 2,
    )
    await m.restart('SIGKILL')
    // Its own end comes last; what was told twice would stand before it.
    await m.client.completeSession({ id: em.session_id, message: 'all done' })
    await eventually(
      async () => lines.join('\n'),
      (text) => text.includes('all done'),
    )
    following.kill()
    await read
    expect(lines.map((line) => line.replace(/^\[\d\d:\d\d\] /, ''))).toEqual([
      ...children.map(({ session_id: id }) => `completed: Child ${id} completed - "done ${id}"`),
      `completed: ${em.name} completed - "all done"`,
    ])
  })

  test('[SM-108][SM-104] looking: every list is text for people and the contract’s data for programs', async () => {
    const m = await sessionDaemon()
    const one = await m.spawnShell({ name: 'solo' })
    const sm = await smOf(m)
    const inside = await smOf(m, one)
    expect((await sm(['all'])).stdout).toMatch(new RegExp(`\nshell-solo +${one.session_id} `))
    for (const [name, args] of [
      ['all', ['--closed']],
      ['status', []],
      ['events', [one.session_id, '--limit', '5']],
      ['output', [one.session_id]],
      ['what', [one.session_id]],
      ['explain', [one.session_id]],
      ['ps', []],
      ['approvals', []],
      ['messages', [one.session_id]],
      ['tail', [one.session_id]],
      ['attach', [one.session_id]],
      ['restore', ['--dry-run']],
    ] as const) {
      const { code, stdout, stderr } = await sm([name, ...args, '--json'])
      expect({ name, code, stderr }).toEqual({ name, code: 0, stderr: '' })
      dataOf(name, stdout)
      expect(await sm([name, ...args, ...(name === 'attach' ? ['--print'] : [])])).toMatchObject({ code: 0 })
    }
    expect(await inside(['alone'])).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(await sm(['alone'])).toEqual({ code: 1, stdout: '', stderr: '' })
    expect(await inside(['who'])).toEqual({ code: 1, stdout: '', stderr: '' })
    expect((await inside(['task', 'Login'])).stdout).toBe('Task set\n')
    expect((await inside(['lock', 'Rebasing'])).code).toBe(0)
    expect((await inside(['name', 'renamed'])).stdout).toBe(
      `Session ${one.session_id} is now called renamed\n`,
    )
    const status = await inside(['status'])
    expect(status.stdout).toContain('\nTask: Login\n')
    expect(status.stdout).toContain('says "Rebasing"')
    expect((await inside(['unlock'])).code).toBe(0)
  })

  test('[SM-84][SM-22] refusals have the exit codes of the table', async () => {
    const m = await usual()
    const parent = (await m.spawnShell()).session_id
    const [one, two] = [await m.spawnShell({ parent }), await m.spawnShell({ parent })]
    const stranger = await m.spawnShell()
    const codes = async (sm: Awaited<ReturnType<typeof smOf>>, line: string) =>
      (await sm(line.split(' '))).code
    const [person, inside] = [await smOf(m), await smOf(m, one)]
    expect(await codes(person, 'progress nobody')).toBe(3)
    expect(await codes(person, 'spawn nonsense x')).toBe(3)
    expect(await codes(person, 'children')).toBe(2)
    expect(await codes(person, 'me')).toBe(2)
    expect(await codes(inside, `kill ${two.session_id}`)).toBe(5)
    expect(await codes(inside, `send ${two.session_id} hello`)).toBe(5)
    expect(await codes(inside, `kill ${stranger.session_id}`)).toBe(3)
    expect(await codes(person, `wait ${one.session_id} --timeout 1`)).toBe(4)
    expect((await person(['spawn', 'shell', 'x', '--dry-run', '--args', '--a "b c"'])).stdout).toContain(
      "'b c'",
    )
  })

  test('[MUS-378] what names nothing, or something that does not exist, is refused before anything else is answered', async () => {
    const m = await usual()
    const { session_id } = await m.spawnShell()
    const [person, inside] = [await smOf(m), await smOf(m, await m.spawnShell())]
    for (const args of [
      ['wait', ''],
      ['kill', ' '],
      ['progress', '..'],
      ['events', '.'],
      ['approvals', ''],
    ])
      for (const sm of [person, inside]) {
        const { code, stdout, stderr } = await sm(args)
        expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: '' })
        expect(stderr).not.toContain('/api/')
      }
    for (const args of [['events'], ['events', session_id], ['events', '--follow']]) {
      const { code, stderr } = await person([...args, '--type', 'complete'])
      expect(code).toBe(2)
      expect(stderr).toMatch(
        /'complete' is not a word of sm events; did you mean completed\? there are: .*\bidle\b/,
      )
    }
    expect(await person(['journal', 'tail', '--type', 'session.stated'])).toMatchObject({ code: 2 })
    for (const line of [
      'approvals nobody',
      'search x --session nobody',
      'journal tail --session nobody',
      'messages dismiss nobody',
      'approve nobody',
      'workflow show nobody',
      'replay nobody',
      'spawn shell x --parent nobody',
    ])
      expect({ line, code: (await person(line.split(' '))).code }).toEqual({ line, code: 3 })
  })

  test('[MUS-387] sm trace draws a session with those below it, follows it to its end, and prints pages as JSON', async () => {
    const m = await usual()
    const sm = await smOf(m)
    const parent = await m.spawnShell({ name: 'traced' })
    const asParent = await smOf(m, parent)
    expect((await asParent(['spawn', 'shell', '', '--name', 'inner'])).code).toBe(0)
    expect((await asParent(['checkpoint', 'half of it'])).code).toBe(0)
    const drawn = await eventually(
      async () => (await sm(['trace', parent.id])).stdout,
      (text) => text.includes('progress.checkpoint') && text.includes('inner'),
    )
    expect(drawn.split('\n')[0]).toContain('shell-traced')
    expect(drawn).toMatch(/[├└]─ shell-inner {2}open/)
    const following = await startSm(m, parent, ['trace', '--follow', '--json'])
    const lines = createInterface({ input: following.stdout })
    const ended = new Promise<number | null>((done) => following.once('exit', done))
    const pages: unknown[] = []
    lines.on('line', (line) => pages.push(dataOf('trace', line)))
    await eventually(
      async () => pages.length,
      (count) => count > 0,
    )
    expect((await asParent(['complete', 'all of it'])).code).toBe(0)
    expect(await ended).toBe(0)
    expect(JSON.stringify(pages.slice(1))).toContain('session.completed')
    for (const slice of ['phase', 'colour=red', 'tool='])
      expect(await sm(['trace', parent.id, '--slice', slice])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`--slice takes phase=…, agent=…, tool=…, status=…, not '${slice}'`),
      })
  })
})
