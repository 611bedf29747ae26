import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { commandOutputs } from '../../src/contract/cli/outputs.ts'
import { smProgram } from '../support/programs.ts'
import { emptyEnvironment, runSm, temporaryFolder } from './run-sm.ts'

describe('sm as a process', () => {
  test('[MUS-121] version tells version, wire version and where it runs from', async () => {
    const plain = await runSm(['version'])
    expect(plain).toMatchObject({ code: 0, stderr: '' })
    expect(plain.stdout).toContain(`muster ${manifest.version} (wire 1, node ${process.versions.node}`)
    expect(plain.stdout).toContain(smProgram)
    expect((await runSm(['--version'])).stdout).toBe(plain.stdout)
  })

  test('[MUS-110] --json prints one value that fits the table, and nothing else', async () => {
    for (const [name, args] of [
      ['version', []],
      ['completion', ['fish']],
    ] as const) {
      const { code, stdout, stderr } = await runSm([name, ...args, '--json'])
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(commandOutputs[name].safeParse(JSON.parse(stdout)).success).toBe(true)
    }
  })

  test('[MUS-112] help goes to stdout with exit 0', async () => {
    const { code, stdout, stderr } = await runSm(['help', 'journal', 'verify'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^Usage: sm journal verify/)
  })

  test('[MUS-109][MUS-113] a usage error is exit 2, on stderr alone', async () => {
    for (const args of [['jurnal'], ['journal'], ['journal', 'tail', '--folow'], ['log', 'validate']]) {
      const { code, stdout, stderr } = await runSm(args)
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).not.toBe('')
    }
    expect((await runSm(['vresion'])).stderr).toBe(
      "sm: unknown command 'vresion'; did you mean sm version?\n",
    )
  })

  test('[MUS-110] with --json an error is JSON on stderr', async () => {
    const { code, stdout, stderr } = await runSm(['version', '--jsn', '--json'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(JSON.parse(stderr)).toEqual({
      code: 'invalid',
      message: "unknown option '--jsn'; did you mean --json? See: sm help version",
    })
  })

  test('[MUS-110] a family alone is a usage error in the asked form', async () => {
    const { code, stdout, stderr } = await runSm(['journal', '--json'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(JSON.parse(stderr)).toMatchObject({ code: 'invalid' })
  })

  test('[MUS-142] a relative MUSTER_HOME is refused before anything is touched', async () => {
    const { code, stderr } = await runSm(['search', 'x'], { MUSTER_HOME: 'state' })
    expect(code).toBe(2)
    expect(stderr).toBe('sm: MUSTER_HOME is state; set it to an absolute path\n')
  })

  test('[MUS-109] a file that is not there is exit 3', async () => {
    expect(await runSm(['redact', 'test', '/nowhere/at/all'])).toEqual({
      code: 3,
      stdout: '',
      stderr: 'sm: /nowhere/at/all does not exist; check the path\n',
    })
    expect((await runSm(['redact', 'test', '/'])).code).toBe(2)
  })

  test('[MUS-111] a reader that leaves early ends the command quietly', async () => {
    const child = spawn(
      'bash',
      ['-c', '"$0" "$1" help | head -c 1; echo " ${PIPESTATUS[0]}"', process.execPath, smProgram],
      {
        env: emptyEnvironment(),
      },
    )
    const pieces: string[] = []
    child.stdout.on('data', (piece: Buffer) => pieces.push(String(piece)))
    child.stderr.on('data', (piece: Buffer) => pieces.push(`stderr: ${String(piece)}`))
    await new Promise((resolve) => child.once('close', resolve))
    expect(pieces.join('')).toBe('U 0\n')
  })

  test('[MUS-114] there is no colour without a terminal, and none with NO_COLOR', async () => {
    const escape = String.fromCharCode(27)
    const paint = async (env: Record<string, string>) =>
      (await runSm(['config', 'show', '--color'], env)).stdout.includes(escape)
    expect((await runSm(['config', 'show'])).stdout).not.toContain(escape)
    expect(await paint({})).toBe(true)
    expect(await paint({ NO_COLOR: '1' })).toBe(false)
  })
})

test('[MUS-68] redact test reads a file or standard input, and stores nothing', async () => {
  const folder = temporaryFolder()
  const file = join(folder, 'notes.txt')
  const text = 'fine\nAWS_SECRET_ACCESS_KEY=abcdEFGHijklMNOPqrstUVWXyz0123456789ABCD\n'
  writeFileSync(file, text)
  const fromFile = await runSm(['redact', 'test', file, '--json'])
  expect(fromFile.stderr).toBe('')
  const report = commandOutputs['redact test'].parse(JSON.parse(fromFile.stdout))
  expect(report.redacted).not.toContain('abcdEFGH')
  expect(report.findings).toEqual([expect.objectContaining({ line: 2 })])
  expect((await runSm(['redact', 'test', '-', '--json'], {}, text)).stdout).toBe(fromFile.stdout)
})
