import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshEntries } from '../../src/cli/commands/session-look.ts'
import { parseCommandLine } from '../../src/cli/parse-command-line.ts'
import { parseBudget, parseSince } from '../../src/cli/parse-values.ts'
import { shellWords } from '../../src/cli/shell-words.ts'
import { codingCliNames } from '../../src/contract/agent-clis.ts'
import { sessionCommands } from '../../src/contract/cli/session-commands.ts'
import { type CommandName, commandEntries } from '../../src/contract/cli.ts'
import { sessionRoutes } from '../../src/contract/session-routes.ts'
import { PermissionMode } from '../../src/contract/values.ts'
import { now } from './session-data.ts'

const zone = process.env['TZ']
beforeAll(() => {
  process.env['TZ'] = 'UTC'
})
afterAll(() => {
  if (zone === undefined) delete process.env['TZ']
  else process.env['TZ'] = zone
})

describe('words of --args', () => {
  test.each([
    ['', []],
    ['  ', []],
    ['--model opus', ['--model', 'opus']],
    ['--bypass-permissions', ['--bypass-permissions']],
    ["--append 'two words' x", ['--append', 'two words', 'x']],
    ['--a="b c"', ['--a=b c']],
    ['a\\ b', ['a b']],
    ["''", ['']],
    ['"a\\"b" "c\\d" "\\$x"', ['a"b', 'c\\d', '$x']],
    ["'$(id)' $(id) ; `x` | & *", ['$(id)', '$(id)', ';', '`x`', '|', '&', '*']],
    ['a\n\tb', ['a', 'b']],
  ])('[SM-16] %j are split as a shell splits them, and nothing in them is run', (text, words) => {
    expect(shellWords(text)).toEqual(words)
  })

  test.each(["it's", '"open', 'end\\'])('[SM-16] %j is refused, not guessed', (text) => {
    expect(() => shellWords(text)).toThrow(/not closed/)
  })

  test('[SM-16] any words that were quoted come back', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (words) => {
        const quoted = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
        expect(shellWords(quoted)).toEqual(words)
      }),
    )
  })
})

describe('budgets', () => {
  test.each([
    [[], undefined],
    [['200k'], { tokens: 200_000 }],
    [['1.5M'], { tokens: 1_500_000 }],
    [['5000'], { tokens: 5000 }],
    [['5usd'], { usd: 5 }],
    [['$2.50'], { usd: 2.5 }],
    [['200k', '5USD'], { tokens: 200_000, usd: 5 }],
  ])('[SM-118] %j is read', (given, budget) => {
    expect(parseBudget(given)).toEqual(budget)
  })
  test.each(['', '0', '0usd', '$', '5 eur', '-1k', '1e9', 'k'])('[SM-118] %j is refused', (text) => {
    expect(() => parseBudget([text])).toThrow(/is not a budget/)
  })
})

describe('--since', () => {
  test.each([
    ['10min', '2026-01-27T15:20:00.000Z'],
    ['90s', '2026-01-27T15:28:30.000Z'],
    ['2hr', '2026-01-27T13:30:00.000Z'],
    ['2h', '2026-01-27T13:30:00.000Z'],
    ['1day', '2026-01-26T15:30:00.000Z'],
    ['15:10', '2026-01-27T15:10:00.000Z'],
    ['16:00', '2026-01-26T16:00:00.000Z'],
    ['2026-01-27T15:10Z', '2026-01-27T15:10:00.000Z'],
  ])('[SM-40] %s is a point in the past', (text, time) => {
    expect(parseSince(text, now)).toBe(time)
  })
  test.each(['', 'yesterday', '25:00', '10', '1', '2026-99-99'])('[SM-40] %j is refused', (text) => {
    expect(() => parseSince(text, now)).toThrow(/is not a time/)
  })
})

describe('command lines of sessions', () => {
  const input = async (line: string, name: CommandName) => {
    const parsed = await parseCommandLine(shellWords(line))
    expect(parsed).toMatchObject({ kind: 'command', name })
    return (parsed as { input: Record<string, unknown> }).input
  }

  test('[SM-13][SM-16] spawn takes its words by place and by name', async () => {
    const line = `spawn Engineer "Fix it" --args "--x 'a b'" --args=-y --worktree=fix/a --budget 200k --budget 5usd -q`
    expect(await input(line, 'spawn')).toMatchObject({
      'agent-type': 'Engineer',
      prompt: 'Fix it',
      args: ["--x 'a b'", '-y'],
      worktree: 'fix/a',
      budget: ['200k', '5usd'],
      quiet: true,
      wait: undefined,
    })
  })

  test('[SM-13][SM-32] an option without its value never swallows the next word', async () => {
    expect(await input('spawn Engineer --worktree --wait "Fix it"', 'spawn')).toMatchObject({
      prompt: 'Fix it',
      worktree: '',
      wait: 0,
    })
    expect(await input('spawn Engineer --wait 30 "Fix it"', 'spawn')).toMatchObject({
      prompt: 'Fix it',
      wait: 30,
    })
    expect(await input('progress --watch def456', 'progress')).toEqual({ session: 'def456', watch: 5 })
    expect(await input('progress def456 --watch=2', 'progress')).toEqual({ session: 'def456', watch: 2 })
    expect(await input('send a,b --wait hello', 'send')).toMatchObject({
      sessions: 'a,b',
      text: 'hello',
      wait: 60,
    })
    expect(await input('send a -- --wait', 'send')).toMatchObject({ text: '--wait', wait: undefined })
  })

  test('[SM-33] checkpoint takes a message, checkpoint diff is a command of its own', async () => {
    expect(await input('checkpoint "diff it"', 'checkpoint')).toMatchObject({ message: 'diff it' })
    expect(await input('checkpoint done --metadata a=1 --metadata b=x', 'checkpoint')).toMatchObject({
      message: 'done',
      metadata: ['a=1', 'b=x'],
    })
    expect(await input('checkpoint diff 1 3', 'checkpoint diff')).toMatchObject({ from: '1', to: '3' })
    expect(await parseCommandLine(['help', 'checkpoint', 'diff'])).toMatchObject({
      text: expect.stringMatching(/^Usage: sm checkpoint diff <from>/),
    })
  })

  test('[SM-108] ls is all, logs is tail', async () => {
    expect(await input('ls --closed', 'all')).toEqual({ closed: true })
    expect(await input('logs def456 -f', 'tail')).toMatchObject({ session: 'def456', follow: true })
    expect(await parseCommandLine(['help', 'ls'])).toMatchObject({
      text: expect.stringContaining('Alias: sm ls'),
    })
  })

  test.each([
    ['children --status broken', /one of running, completed, error, all/],
    ['complete --status killed', /one of completed, error, abandoned/],
    ['spawn', /missing required argument 'agent-type'/],
    ['kill', /missing required argument 'sessions'/],
    ['wait a --for ever', /one of complete, idle, waiting/],
    ['spwan Engineer x', /did you mean sm spawn\?/],
  ])('[SM-25][SM-38] %s is refused with what is allowed', async (line, message) => {
    await expect(parseCommandLine(shellWords(line))).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringMatching(message),
    })
  })

  test('[SM-108] no words at all need no parser, and mean the same', async () => {
    const { parseInput } = await import('../../src/cli/parse-input.ts')
    for (const [name, { arguments: taken }] of commandEntries) {
      if (Object.values(taken).some(({ takes }) => takes !== 'optional')) continue
      expect(await parseCommandLine(name.split(' '))).toMatchObject({ input: parseInput(name, []) })
    }
  })

  test('[SM-13][SM-25] the words that the table offers are those that the routes take', () => {
    const { options } = sessionCommands.spawn
    // A program of the settings is one of them too; `custom` is only what such a program is called inside.
    for (const name of codingCliNames) expect(options.cli.about).toContain(name)
    expect(options.cli.about).not.toContain('custom')
    expect(options['permission-mode'].choices).toEqual(PermissionMode.options)
    expect(sessionRoutes.completeSession.input.shape.status.unwrap().options).toEqual([
      'completed',
      'error',
      'abandoned',
    ])
  })
})

describe('the end of a list that grows', () => {
  const entry = (text: string) => ({ at: '', who: '', text })
  const entries = (text: string) => text.split('').map(entry)
  test.each([
    ['', 'abc', 'abc'],
    ['abc', 'abc', ''],
    ['abc', 'abcde', 'de'],
    ['abc', 'cde', 'de'],
    ['aaa', 'aaaa', 'a'],
    ['abc', 'xyz', 'xyz'],
  ])('[SM-4] after %j, %j has %j more', (seen, nowSeen, fresh) => {
    expect(freshEntries(entries(seen), entries(nowSeen))).toEqual(entries(fresh))
  })
})
