import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { bashCompletion, fishCompletion, zshCompletion } from '../../src/cli/completion.ts'
import { commandEntries } from '../../src/contract/cli.ts'
import { runSm, temporaryFolder } from './run-sm.ts'

/** What bash offers after a line, by its own completion; the last word is the one being typed. */
function offered(line: string, cwd = temporaryFolder()): string[] {
  const words = line.split(' ')
  const script = `${bashCompletion()}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length - 1}
_sm
printf '%s\\n' "\${COMPREPLY[@]}"`
  const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], { cwd, encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return stdout.split('\n').filter((word) => word !== '')
}

describe('bash completes', () => {
  test('[MUS-126] commands and families', () => {
    const firsts = [...new Set(commandEntries.map(([name]) => name.split(' ')[0]))]
    expect(offered('sm ')).toEqual(expect.arrayContaining(firsts))
    expect(offered('sm jo')).toEqual(['journal'])
    expect(offered('sm --js')).toEqual(['--json'])
  })

  test('[MUS-126] the second word of a family', () => {
    expect(offered('sm journal re')).toEqual(['rebuild-index'])
    expect(offered('sm --json agents ').filter((word) => !word.startsWith('-'))).toEqual([
      'list',
      'show',
      'check',
      'new',
    ])
  })

  test.each(commandEntries)('[MUS-126] the options of %s', (name, { options }) => {
    const expected = [...Object.keys(options), 'json', 'help'].map((option) => `--${option}`)
    expect(offered(`sm ${name} -`)).toEqual(expect.arrayContaining(expected))
  })

  test('[MUS-126] choices and files', () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'a session.json'), '')
    mkdirSync(join(folder, 'aside'))
    expect(offered('sm completion z')).toEqual(['zsh'])
    expect(offered('sm log validate a', folder).sort()).toEqual(['a session.json', 'aside'])
    expect(offered('sm log export 1749a2fe --out as', folder)).toEqual(['aside'])
    expect(offered('sm log export a', folder)).toEqual([])
  })

  test('[MUS-126] the words of an option, other names, and a command below a command', () => {
    expect(offered('sm children --status ')).toEqual(['running', 'completed', 'error', 'all'])
    expect(offered('sm spawn Engineer --cli co')).toEqual(['codex'])
    expect(offered('sm ls --cl')).toEqual(['--closed'])
    expect(offered('sm checkpoint d')).toEqual(['diff'])
    expect(offered('sm checkpoint diff 1 --s')).toEqual(['--session'])
    expect(offered('sm checkpoint done --m')).toEqual(['--metadata'])
    expect(offered('sm checkpoint diff --m')).toEqual([])
    expect(offered('sm check').sort()).toEqual(['checkpoint', 'checkpoints'])
  })

  test('[MUS-126] sm completion prints what bash can source', async () => {
    const { stdout, code } = await runSm(['completion', 'bash'])
    expect(code).toBe(0)
    const file = join(temporaryFolder(), 'sm.bash')
    writeFileSync(file, stdout)
    const sourced = spawnSync('bash', ['--norc', '-c', 'source "$0" && complete -p sm', file], {
      encoding: 'utf8',
    })
    expect(sourced.stdout.trim()).toBe('complete -F _sm sm')
  })
})

test.each([
  ['zsh', zshCompletion()],
  ['fish', fishCompletion()],
])('[MUS-126] the script of %s has every command and option', (_shell, script) => {
  for (const [name, { options }] of commandEntries) {
    for (const word of name.split(' ')) expect(script).toContain(word)
    for (const option of Object.keys(options)) expect(script).toMatch(new RegExp(`(--|-l )${option}\\b`))
  }
})

test('[MUS-126] quotes in a description do not end it', () => {
  const quotes = (line: string) => line.replaceAll("'\\''", '').match(/'/g)?.length ?? 0
  expect(
    zshCompletion()
      .split('\n')
      .filter((line) => quotes(line) % 2 === 1),
  ).toEqual([])
  expect(
    fishCompletion()
      .split('\n')
      .filter((line) => (line.replaceAll("\\'", '').match(/'/g)?.length ?? 0) % 2 === 1),
  ).toEqual([])
})
