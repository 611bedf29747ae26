import { describe, expect, test } from 'vitest'
import { parseCommandLine } from '../../src/cli/parse-command-line.ts'
import type { CommandDefinition } from '../../src/contract/cli/command.ts'
import { commandEntries } from '../../src/contract/cli.ts'
import { AppError } from '../../src/contract/errors.ts'

const parse = (line: string) => parseCommandLine(line.split(' ').filter((word) => word !== ''))

async function refusal(line: string): Promise<string> {
  const error: unknown = await parse(line).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(AppError)
  expect((error as AppError).code).toBe('invalid')
  return (error as AppError).message
}

describe('a command line', () => {
  const good: [string, string, Record<string, unknown>][] = [
    ['version', 'version', {}],
    ['--version', 'version', {}],
    ['up', 'up', { foreground: false, replace: false }],
    ['up --replace', 'up', { foreground: false, replace: true }],
    ['journal tail', 'journal tail', { follow: false, type: [], session: undefined, lines: 20 }],
    [
      'journal tail -f --type a.b --type=c.d -n 5',
      'journal tail',
      { follow: true, type: ['a.b', 'c.d'], session: undefined, lines: 5 },
    ],
    ['journal tail -fn5', 'journal tail', { follow: true, type: [], session: undefined, lines: 5 }],
    ['journal verify --set-aside', 'journal verify', { 'set-aside': true }],
    ['journal verify', 'journal verify', { 'set-aside': false }],
    ['journal export --after 12', 'journal export', { after: 12, type: [], session: undefined }],
    ['search retry backoff', 'search', { query: ['retry', 'backoff'], session: undefined, limit: 20 }],
    ['search -- --json', 'search', { query: ['--json'], session: undefined, limit: 20 }],
    ['log validate a.json b.json', 'log validate', { files: ['a.json', 'b.json'] }],
    ['log repair a.json', 'log repair', { file: 'a.json', out: undefined }],
    ['log repair a.json --out b.json', 'log repair', { file: 'a.json', out: 'b.json' }],
    ['log export 1749a2fe', 'log export', { session: '1749a2fe', out: undefined }],
    ['redact test -', 'redact test', { file: '-' }],
    ['completion bash', 'completion', { shell: 'bash' }],
    ['budget a 0.50usd', 'budget', { session: 'a', amounts: ['0.50usd'] }],
  ]
  test.each(good)('[MUS-108] %s is read by the table', async (line, name, input) => {
    expect(await parse(line)).toEqual({ kind: 'command', name, input, isJson: false, color: undefined })
  })

  test('[MUS-280] a limit in dollars may have cents', async () => {
    for (const [text, usd] of [
      ['0.50', 0.5],
      ['0.005', 0.005],
      ['5', 5],
    ] as const)
      expect(await parse(`workflow run audit --usd ${text}`)).toMatchObject({ input: { usd } })
  })

  test('[MUS-110] global options stand before or after the command', async () => {
    for (const line of ['--json up --replace', 'up --json --replace', 'up --replace --json']) {
      expect(await parse(line)).toMatchObject({ name: 'up', isJson: true, input: { replace: true } })
    }
    expect(await parse('version --no-color')).toMatchObject({ color: false })
    expect(await parse('--no-color version --color')).toMatchObject({ color: true })
    expect(await parse('search -- --json')).toMatchObject({ isJson: false })
  })

  const bad: [string, RegExp][] = [
    ['jurnal', /^unknown command 'jurnal'; did you mean sm journal\?$/],
    ['verify', /^unknown command 'verify'; did you mean sm journal verify\?$/],
    ['journal verfiy', /^unknown command 'journal verfiy'; did you mean sm journal verify\?$/],
    ['vresion', /did you mean sm version\?$/],
    ['xyzzy', /^unknown command 'xyzzy'; sm help lists the commands$/],
    ['help xyzzy', /^unknown command 'xyzzy'/],
    ['--jsn version', /^unknown option '--jsn' before the command/],
    ['journal tail --folow', /^unknown option '--folow'; did you mean --follow\? See: sm help journal tail$/],
    ['version --jsno', /^unknown option '--jsno'; did you mean --json\? See: sm help version$/],
    ['journal tail -n x', /^--lines cannot be 'x'. It must be a whole number. See: sm help journal tail$/],
    ['crew x --max-iterations 0', /--max-iterations cannot be '0'. It must be a number from 1 to 20/],
    ['crew x --minutes 0', /--minutes cannot be '0'. It must be 1 or more/],
    ['workflow run audit --usd 0', /--usd cannot be '0'. It must be a number above 0/],
    ['workflow run audit --usd 1e3', /It must be a number above 0, like 5 or 0.50/],
    ['journal tail -n -1', /whole number/],
    ['journal tail -n 1.5', /whole number/],
    ['journal tail --type', /^--type needs a value/],
    ['journal tail surplus', /too many arguments/],
    ['version surplus', /too many arguments/],
    ['log validate', /missing required argument 'files'/],
    ['completion tcsh', /one of bash, zsh, fish/],
  ]
  test.each(bad)('[MUS-113] %s is refused with what was meant', async (line, message) => {
    expect(await refusal(line)).toMatch(message)
  })

  const blanks = commandEntries.flatMap(([name, definition]) => {
    const { arguments: taken, options }: CommandDefinition = definition
    const args = Object.values(taken)
    const usual = (i: number) => args.map(({ choices }, at) => (at === i ? ' ' : (choices?.[0] ?? 'x')))
    const placed = Object.entries(taken).map(([argument, { mayBeBlank }], i) => ({
      what: `sm ${name} <${argument}>`,
      mayBeBlank,
      words: [...name.split(' '), ...usual(i)],
    }))
    const named = Object.entries(options)
      .filter(([, { kind, bare }]) => kind !== 'switch' && bare === undefined)
      .map(([option, { mayBeBlank }]) => ({
        what: `sm ${name} --${option}`,
        mayBeBlank,
        words: [...name.split(' '), ...usual(-1), `--${option}`, ''],
      }))
    return [...placed, ...named]
  })
  test.each(blanks)('[MUS-378] $what takes a blank only where somebody says something', async (one) => {
    const asked = parseCommandLine(one.words)
    if (one.mayBeBlank) await expect(asked).resolves.toMatchObject({ kind: 'command' })
    else
      await expect(asked).rejects.toMatchObject({
        code: 'invalid',
        message: expect.stringMatching(/must be|must not be|whole number/),
      })
  })

  test('[MUS-112] help is given for sm, a family and a command, however it is asked for', async () => {
    for (const line of ['', 'help', '--help', '-h', 'help --json']) {
      expect(await parse(line)).toMatchObject({
        kind: 'help',
        text: expect.stringMatching(/^Usage: sm <command>/),
      })
    }
    for (const line of ['help journal', 'journal --help', 'journal -h']) {
      expect(await parse(line)).toMatchObject({
        kind: 'help',
        text: expect.stringMatching(/^Usage: sm journal </),
      })
    }
    for (const line of ['help journal tail', 'journal tail --help', 'journal tail --bogus -h']) {
      expect(await parse(line)).toMatchObject({
        kind: 'help',
        text: expect.stringMatching(/^Usage: sm journal tail/),
      })
    }
    expect(await parse('journal')).toMatchObject({ kind: 'incomplete' })
  })
})
