import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { buildAll } from '../../scripts/build.ts'
import { runProgram, temporaryFolder } from './run-sm.ts'

const tree = {
  'src/cli/main.ts': "const { word } = await import('./lazy.ts')\nconsole.log('sm', word)\n",
  'src/cli/lazy.ts': "import { shared } from '../shared.ts'\nexport const word = `lazy ${shared}`\n",
  'src/shared.ts': "export const shared = 'shared'\n",
  'src/daemon/main.ts': "import { shared } from '../shared.ts'\nconsole.log('daemon', shared)\n",
  'src/daemon/index-worker.ts': "console.log('worker', require('node:path').sep)\n",
}

function plant(files: Record<string, string>): string {
  const root = temporaryFolder()
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }
  return root
}

describe('the build', () => {
  test('[MUS-222] makes sm, the daemon and its workers, which run on their own', async () => {
    const root = plant(tree)
    const out = join(root, 'dist')
    const entries = await buildAll(root, out)
    expect(entries.map((file) => file.slice(out.length + 1)).sort()).toEqual([
      'daemon.mjs',
      'index-worker.mjs',
      'sm.mjs',
    ])
    expect((await runProgram(process.execPath, [join(out, 'sm.mjs')])).stdout).toBe('sm lazy shared\n')
    expect((await runProgram(process.execPath, [join(out, 'daemon.mjs')])).stdout).toBe('daemon shared\n')
    expect((await runProgram(process.execPath, [join(out, 'index-worker.mjs')])).stdout).toBe('worker /\n')
    expect(readFileSync(join(out, 'sm.mjs'), 'utf8')).not.toContain('lazy ')
  })

  test.each(['src/cli/main.ts', 'src/daemon/main.ts', 'src/daemon/index-worker.ts'])(
    '[MUS-222] without %s it fails by name',
    async (missing) => {
      const { [missing as keyof typeof tree]: _, ...rest } = tree
      const root = plant(rest)
      await expect(buildAll(root, join(root, 'dist'))).rejects.toThrow(/nothing matches src\//)
    },
  )

  test('[MUS-222] keeps the chunks that a running program may still load, and drops old ones', async () => {
    const root = plant(tree)
    const out = join(root, 'dist')
    await buildAll(root, out)
    const before = readdirSync(out)
    const ancient = join(out, 'chunk-ABCDEFGH.mjs')
    writeFileSync(ancient, '')
    utimesSync(ancient, new Date(0), new Date(0))
    writeFileSync(join(root, 'src/shared.ts'), "export const shared = 'changed'\n")
    await buildAll(root, out)
    const after = readdirSync(out)
    expect(after).toEqual(expect.arrayContaining(before))
    expect(after.length).toBeGreaterThan(before.length)
    expect(after).not.toContain('chunk-ABCDEFGH.mjs')
    expect(after.filter((name) => name.endsWith('.new'))).toEqual([])
  })

  test('[MUS-222] is older than a source that was saved while it ran', async () => {
    const root = plant(tree)
    const saved = buildAll(root, join(root, 'dist'))
    const file = join(root, 'src/shared.ts')
    writeFileSync(file, "export const shared = 'later'\n")
    await saved
    expect(statSync(join(root, 'dist/sm.mjs')).mtimeMs).toBeLessThan(statSync(file).mtimeMs)
  })
})
