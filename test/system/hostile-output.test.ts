import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type CommandName, commandEntries } from '../../src/contract/cli.ts'
import { hostile, printedFaults } from '../support/hostile-text.ts'
import { hostileWorld, inTerminal } from '../support/hostile-world.ts'
import { smProgram } from '../support/programs.ts'
import { eventually } from '../support/session-daemon.ts'
import { shared } from '../support/shared.ts'

type World = Awaited<ReturnType<typeof hostileWorld>>
const world = shared(hostileWorld)

type Case = {
  readonly args: readonly string[]
  readonly input?: string
  /** What it prints is a text with lines of its own. */
  readonly hasLines?: true
  /** It would begin work with any word; a wrong option is refused. */
  readonly takesWords?: true
}

/** Every command on something hostile. One without a line here does not compile. */
const casesOf = (w: World): Readonly<Record<CommandName, Case>> => {
  const { shell, answer, rich } = w
  const file = join(w.home, 'imported', readdirSync(join(w.home, 'imported'))[0] ?? '')
  return {
    watch: { args: [] },
    ask: { args: ['evil', '-'], input: w.asked, hasLines: true, takesWords: true },
    chat: { args: ['--session', w.chat.session_id], input: `${hostile}\n`, hasLines: true, takesWords: true },
    demo: { args: ['--once'], takesWords: true },
    crew: { args: [hostile, '--detach', '--model', 'scripted'], takesWords: true },
    'workflow list': { args: [] },
    'workflow show': { args: [hostile] },
    'workflow run': { args: [hostile] },
    'workflow resume': { args: [hostile] },
    'workflow fork': { args: [hostile] },
    'workflow cancel': { args: [hostile, hostile] },
    spawn: { args: ['shell', hostile, '--dry-run'], takesWords: true },
    send: { args: [`${shell.session_id},${hostile}`, hostile] },
    messages: { args: [shell.session_id] },
    'messages dismiss': { args: [w.queued.message_id] },
    interrupt: { args: [answer.session_id] },
    kill: { args: [rich] },
    budget: { args: [rich, '200k'] },
    approvals: { args: ['--all'] },
    approve: { args: [rich] },
    reject: { args: [rich, hostile] },
    attach: { args: [shell.session_id, '--print'] },
    wait: { args: [rich, '--timeout', '1'], takesWords: true },
    resume: { args: [rich] },
    restore: { args: ['--dry-run'], takesWords: true },
    adopt: { args: [rich] },
    all: { args: ['--closed'] },
    status: { args: [] },
    children: { args: [rich] },
    progress: { args: [rich] },
    checkpoints: { args: [shell.session_id] },
    events: { args: [rich] },
    tail: { args: [answer.session_id], hasLines: true },
    output: { args: [shell.session_id], hasLines: true },
    blackboard: { args: [rich] },
    what: { args: [rich], hasLines: true },
    explain: { args: [shell.session_id] },
    ps: { args: [] },
    me: { args: [] },
    who: { args: [] },
    others: { args: [] },
    alone: { args: [] },
    checkpoint: { args: [hostile, '--session', shell.session_id] },
    'checkpoint diff': { args: ['1', '2', '--session', shell.session_id], hasLines: true },
    complete: { args: [hostile, '--session', answer.session_id] },
    name: { args: [shell.session_id, hostile] },
    task: { args: [hostile, '--session', shell.session_id] },
    lock: { args: [hostile, '--session', shell.session_id] },
    unlock: { args: ['--session', shell.session_id] },
    up: { args: [], takesWords: true },
    down: { args: ['--help'], takesWords: true },
    open: { args: ['--print'], takesWords: true },
    doctor: { args: [], takesWords: true },
    version: { args: [] },
    search: { args: ['FORGED'] },
    replay: { args: [answer.run_id] },
    'config show': { args: ['--origin'] },
    'agents list': { args: [] },
    'agents show': { args: ['evil'], hasLines: true },
    'agents check': { args: [] },
    'agents new': { args: [hostile] },
    'crews list': { args: [] },
    'crews show': { args: ['evil'] },
    'crews check': { args: [] },
    models: { args: [] },
    'redact test': { args: ['-'], input: `password=${hostile} ghp_${'a'.repeat(36)}` },
    completion: { args: ['bash'], hasLines: true },
    'log validate': { args: [file] },
    'log import': { args: [file] },
    'log export': { args: [rich] },
    'log migrate': { args: [file] },
    'log repair': { args: [file, '--out', join(w.home, 'repaired')] },
    'journal verify': { args: [] },
    'journal tail': { args: ['-n', '200'] },
    'journal import': { args: [file] },
    'journal export': { args: [] },
    'journal stats': { args: [] },
    'journal rebuild-index': { args: [], takesWords: true },
    'service install': { args: [] },
    'service uninstall': { args: [] },
    hook: { args: ['claude', hostile], input: JSON.stringify({ tool_name: hostile, session_id: hostile }) },
  }
}

/** Runs something for each of a list, two at a time. */
async function twoByTwo<T>(items: Iterable<T>, run: (item: T) => Promise<void>): Promise<void> {
  const left = [...items]
  const work = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await run(item)
  }
  await Promise.all([work(), work()])
}

type Leaks = Record<string, string[]>

const noteOf = (
  leaks: Leaks,
  name: string,
  { stdout, stderr }: { stdout: string; stderr: string },
  hasLines = false,
) => {
  const found = [...printedFaults(stdout, { hasLines }), ...printedFaults(stderr, { hasLines })]
  if (found.length > 0) leaks[name] = found.slice(0, 3)
}

const words = (name: CommandName, args: readonly string[]) => [...name.split(' '), ...args]

test('[MUS-303] as a pipe, no command prints what acts on a terminal, or a line that was made up', async () => {
  const w = await world()
  const cases = casesOf(w)
  const leaks: Leaks = {}
  await twoByTwo(commandEntries, async ([name]) => {
    const { args, input, hasLines } = cases[name]
    noteOf(leaks, name, await w.sm(words(name, args), input), hasLines)
  })
  expect(leaks).toEqual({})
})

test('[MUS-304] as JSON, each text reads as it is, and nothing acts on a terminal', async () => {
  const w = await world()
  const cases = casesOf(w)
  const leaks: Leaks = {}
  let whole = 0
  const streams: ReadonlySet<CommandName> = new Set(['watch'])
  await twoByTwo(commandEntries, async ([name]) => {
    if (streams.has(name)) return
    const { args, input } = cases[name]
    const printed = await w.sm(words(name, [...args, '--json']), input)
    noteOf(leaks, name, printed)
    for (const text of [printed.stdout, ...printed.stdout.split('\n')])
      try {
        if (JSON.stringify(JSON.parse(text)).includes(JSON.stringify(hostile))) whole++
      } catch {
        // A line of something that is written over several.
      }
  })
  expect(leaks).toEqual({})
  expect(whole).toBeGreaterThan(10)
})

test('[MUS-303] no refusal repeats what was typed as it was typed', async () => {
  const w = await world()
  const cases = casesOf(w)
  const leaks: Leaks = {}
  // What is called so is found by it.
  const isText = ([name]: readonly string[]) => cases[name as CommandName]?.hasLines
  const typed = commandEntries.map(([name]) =>
    words(name, [cases[name].takesWords ? `--${hostile}` : hostile]),
  )
  await twoByTwo(
    [...typed, [hostile], [`--${hostile}`], ['config', hostile], ['help', hostile]],
    async (args) => noteOf(leaks, args.join(' ').replace(hostile, 'HOSTILE'), await w.sm(args), isText(args)),
  )
  expect(leaks).toEqual({})
})

test('[MUS-303] what is followed is as clean as what is listed', async () => {
  const w = await world()
  const leaks: Leaks = {}
  const followed = [
    ['events', w.rich, '--follow'],
    ['tail', w.answer.session_id, '-n', '200', '--follow'],
    ['journal', 'tail', '-n', '200', '--follow'],
    ['progress', w.rich, '--watch', '1'],
    ['watch', '--json'],
  ]
  await twoByTwo(followed, async (args) => {
    const child = spawn(process.execPath, [smProgram, ...args], { cwd: w.project, env: w.env })
    const printed = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        printed[name] += text
      })
    await eventually(
      async () => printed.stdout,
      (text) => text.includes('[35m'),
    )
    child.kill('SIGINT')
    await new Promise((resolve) => child.once('close', resolve))
    noteOf(leaks, args.join(' '), printed, args[0] === 'tail')
  })
  expect(leaks).toEqual({})
})

// What the screens of `sm watch` and `sm chat` and questions use besides colours: modes, places, erasing.
const drawing = /\p{Cc}\[(?:\?(?:1049|25|7|2004|2026)[hl]|\d+;1H|\d*[ACGHJK]|2J|0m)/gu

test('[MUS-303] on a terminal too, with colours, full screens and conversations', async () => {
  const w = await world()
  const cases = casesOf(w)
  const chosen = commandEntries
    .map(([name]) => name)
    .filter((name) => name !== 'hook' && name !== 'ask' && name !== 'redact test')
  const printed = await inTerminal(w, new Map(chosen.map((name) => [name, words(name, cases[name].args)])), {
    watch: { shown: 'SESSION', press: ['q'] },
    chat: { shown: '/help', press: ['C-d'] },
    kill: { shown: '[y/N]', press: ['n', 'Enter'] },
  })
  const leaks: Leaks = {}
  for (const name of chosen) {
    const raw = printed.get(name)
    expect(raw, name).toBeDefined()
    const text = (raw ?? '')
      .replaceAll(/\p{Cc}\[\d+;1H/gu, '\n')
      .replaceAll(drawing, '')
      .replaceAll(/\r/g, '')
    noteOf(leaks, name, { stdout: text, stderr: '' }, cases[name].hasLines)
  }
  expect(leaks).toEqual({})
})

test('[MUS-305] nobody else in sm writes to a terminal, and the log of the daemon is harmless to look at', async () => {
  const root = join(import.meta.dirname, '../../src/cli')
  const writers = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .filter((file) =>
      /std(out|err)\.write\(|writeSync\(|console\./.test(readFileSync(join(root, file), 'utf8')),
    )
  expect(writers.sort()).toEqual(['terminal.ts', 'tui/held-terminal.ts'])
  const { log } = await world()
  expect(log()).toContain('FORGED')
  expect(printedFaults(log())).toEqual([])
})
