import { cpSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root, runProgram, temporaryFolder } from './run-sm.ts'

const main =
  'console.log(JSON.stringify({ argv: process.argv.slice(2), node: process.versions.node.split(".")[0] }))\n'

/** A checkout with the real launcher and scripts, and a program that tells what it was given. */
function checkout(): string {
  const folder = join(temporaryFolder(), 'a checkout')
  for (const file of ['sm', 'scripts', 'package.json', 'package-lock.json']) {
    cpSync(join(root, file), join(folder, file), { recursive: true })
  }
  for (const [file, text] of Object.entries({
    'src/cli/main.ts': main,
    'src/daemon/main.ts': '',
    'src/daemon/index-worker.ts': '',
    'agents/a.md': '',
    'crews/a.yaml': '',
  })) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
    // As old as a checkout usually is, so that nothing of it is newer than a build of this moment.
    utimesSync(join(folder, file), new Date(0), new Date(0))
    utimesSync(dirname(join(folder, file)), new Date(0), new Date(0))
  }
  for (const folderName of ['src', 'agents', 'crews'])
    utimesSync(join(folder, folderName), new Date(0), new Date(0))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

const told = (argv: string[]) => `${JSON.stringify({ argv, node: '24' })}\n`

describe('the launcher', () => {
  test('[MUS-222] builds on first use, says so on stderr, and is silent after', async () => {
    const folder = checkout()
    const first = await runProgram(join(folder, 'sm'), ['a b', '--json', '', '*'])
    expect(first).toEqual({ code: 0, stdout: told(['a b', '--json', '', '*']), stderr: 'muster: building\n' })
    expect(await runProgram(join(folder, 'sm'), [])).toEqual({ code: 0, stdout: told([]), stderr: '' })
  })

  test('[MUS-222] runs its own checkout from any folder and through links', async () => {
    const folder = checkout()
    const elsewhere = temporaryFolder()
    mkdirSync(join(elsewhere, 'bin'))
    symlinkSync(join(folder, 'sm'), join(elsewhere, 'bin', 'absolute'))
    symlinkSync('absolute', join(elsewhere, 'bin', 'muster'))
    for (const [file, cwd] of [
      [join(elsewhere, 'bin', 'muster'), '/'],
      ['./muster', join(elsewhere, 'bin')],
      ['./sm', folder],
    ] as const) {
      expect(await runProgram(file, ['x'], { cwd })).toMatchObject({ code: 0, stdout: told(['x']) })
    }
    const env = { ...process.env, PATH: `${join(elsewhere, 'bin')}:${process.env['PATH']}` }
    expect(await runProgram('muster', ['x'], { cwd: '/tmp', env })).toMatchObject({
      code: 0,
      stdout: told(['x']),
    })
    expect(await runProgram('sh', ['sm', 'x'], { cwd: folder })).toMatchObject({
      code: 0,
      stdout: told(['x']),
    })
  })

  test('[MUS-222] builds again when a source changed, came or went', async () => {
    const folder = checkout()
    const launch = async () => (await runProgram(join(folder, 'sm'), [])).stderr
    const extra = join(folder, 'src/cli/extra.ts')
    expect(await launch()).toBe('muster: building\n')
    expect(await launch()).toBe('')
    for (const file of ['agents/a.md', 'crews/a.yaml']) {
      writeFileSync(join(folder, file), 'changed')
      expect(await launch()).toBe('muster: building\n')
      expect(await launch()).toBe('')
    }
    writeFileSync(extra, '')
    expect(await launch()).toBe('muster: building\n')
    rmSync(extra)
    expect(await launch()).toBe('muster: building\n')
    expect(await launch()).toBe('')
  })

  test('[MUS-222] does not run an old build when the new one fails', async () => {
    const folder = checkout()
    await runProgram(join(folder, 'sm'), [])
    writeFileSync(join(folder, 'src/cli/main.ts'), 'const broken = (\n')
    const { code, stdout, stderr } = await runProgram(join(folder, 'sm'), [])
    expect({ code, stdout }).toEqual({ code: 6, stdout: '' })
    expect(stderr).toContain('the build failed')
  })
})
