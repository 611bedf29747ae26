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

/** Every command on something hostile: a session full of it where one is named, a hostile text everywhere else. */
function casesOf(w: World): Readonly<Record<CommandName, Case>> {
  const valueOf = (argument: string) => (argument.startsWith('session') ? w.rich : hostile)
  const usual = commandEntries.map(([name, row]): [string, Case] => [
    name,
    { args: Object.keys(row.arguments).map(valueOf) },
  ])
  return { ...(Object.fromEntries(usual) as Record<CommandName, Case>), ...specialCases(w) }
}

/** Commands that need something else to have anything to show, or that would begin work. */
const specialCases = (w: World): Partial<Record<CommandName, Case>> => {
  const { shell, answer, rich } = w
  const file = join(w.home, 'imported', readdirSync(join(w.home, 'imported'))[0] ?? '')
  return {
    ask: { args: ['evil', '-'], input: w.asked, hasLines: true, takesWords: true },
    chat: { args: ['--session', w.chat.session_id], input: `${hostile}\n`, hasLines: true, takesWords: true },
    demo: { args: ['--once'], takesWords: true },
    crew: { args: [hostile, '--detach', '--model', 'scripted'], takesWords: true },
    spawn: { args: ['shell', hostile, '--dry-run'], takesWords: true },
    send: { args: [`${shell.session_id},${hostile}`, hostile] },
    messages: { args: [shell.session_id] },
    'messages dismiss': { args: [w.queued.message_id] },
    interrupt: { args: [answer.session_id] },
    budget: { args: [rich, '200k'] },
    approvals: { args: ['--all'] },
    approve: { args: [rich] },
    reject: { args: [rich, hostile] },
    attach: { args: [shell.session_id, '--print'] },
    wait: { args: [rich, '--timeout', '1'], takesWords: true },
    restore: { args: ['--dry-run'], takesWords: true },
    all: { args: ['--closed'] },
    checkpoints: { args: [shell.session_id] },
    tail: { args: [answer.session_id], hasLines: true },
    output: { args: [shell.session_id], hasLines: true },
    what: { args: [rich], hasLines: true },
    explain: { args: [shell.session_id] },
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
    search: { args: ['FORGED'] },
    replay: { args: [answer.run_id] },
    'config show': { args: ['--origin'] },
    trust: { args: ['--list', w.project] },
    'agents show': { args: ['evil'], hasLines: true },
    'crews show': { args: ['evil'] },
    'redact test': { args: ['-'], input: `password=${hostile} ghp_${'a'.repeat(36)}` },
    completion: { args: ['bash'], hasLines: true },
    'log validate': { args: [file] },
    'log import': { args: [file] },
    'log migrate': { args: [file] },
    'log repair': { args: [file, '--out', join(w.home, 'repaired')] },
    'journal tail': { args: ['-n', '200'] },
    'journal import': { args: [file] },
    'journal rebuild-index': { args: [], takesWords: true },
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
    // Some end by themselves, and may have done so before they are looked at.
    const closed = new Promise((resolve) => child.once('close', resolve))
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        printed[name] += text
      })
    await eventually(
      async () => printed.stdout,
      (text) => text.includes('[35m'),
    )
    child.kill('SIGINT')
    await closed
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

/** Every way in which a file of `sm` could bring text to a terminal. */
function waysOut(source: string): string[] {
  const ways: Record<string, RegExp> = {
    'a write': /std(out|err)\??\.(write|end)\(|writeSync\(|\bconsole\b|_rawDebug|emitWarning/,
    'a stream that is passed on':
      /[=:(,[]\s*process\.std(out|err)\b(?!\??\.)|\.pipe(To)?\(|\bpipeline\(|createWriteStream|WriteStream\(|\/dev\/(tty|std|fd|pts)/,
    "a child's output": /'inherit'|stdio: \[[^\]]*\b[12]\b/,
  }
  return Object.keys(ways).filter((way) => ways[way]?.test(source))
}

test('[MUS-305] nobody else in sm writes to a terminal, and the log of the daemon is harmless to look at', async () => {
  const root = join(import.meta.dirname, '../../src/cli')
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => [file, waysOut(readFileSync(join(root, file), 'utf8'))] as const)
    .filter(([, ways]) => ways.length > 0)
  expect(Object.fromEntries(files)).toEqual({
    // The one writer, and the one that draws whole screens.
    'terminal.ts': ['a write'],
    'tui/held-terminal.ts': ['a write'],
    // A question, as one line of `terminalLine`.
    'io.ts': ['a stream that is passed on'],
    // `sm attach` is the program itself; `sm up --foreground` shows the log, which is escaped.
    'attach-terminal.ts': ["a child's output"],
    'start-daemon.ts': ["a child's output"],
  })
  expect(waysOut('createInterface({ input: process.stdin, output: process.stderr })')).toHaveLength(1)
  expect(waysOut('const out = process.stdout\ncreateInterface({ input, output: out })')).toHaveLength(1)
  const { log } = await world()
  expect(log()).toContain('FORGED')
  expect(printedFaults(log())).toEqual([])
})
