import { existsSync, openSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { logCommands } from '../../src/cli/commands/log.ts'
import { logRead } from '../../src/daemon/offline/session-files.ts'
import { smProgram } from '../support/programs.ts'
import { goldenText } from '../support/std-008.ts'
import { emptyEnvironment, runProgram, temporaryFolder } from './run-sm.ts'
import { collect, world } from './world.ts'

const { 'log import': logImport } = logCommands

/** `sm log` in a folder of its own, without a daemon. */
function bench() {
  const env = emptyEnvironment()
  const folder = temporaryFolder()
  const path = (name: string) => join(folder, name)
  return {
    path,
    put: (name: string, text: string) => writeFileSync(path(name), text),
    names: () => readdirSync(folder).sort(),
    json: (name: string) => JSON.parse(readFileSync(path(name), 'utf8')) as Record<string, unknown>,
    hasState: () => existsSync(env['MUSTER_HOME'] as string),
    log: (...args: string[]) =>
      runProgram(process.execPath, [smProgram, 'log', ...args], { env, cwd: folder }),
  }
}

describe('session files without a daemon', () => {
  test('[MUS-156] validate prints errors and warnings with their paths, and exits 1 on errors alone', async () => {
    const { log, put, hasState } = bench()
    const name = '2026-01-26-001-implement-feature-multi.json'
    put(name, goldenText(name))
    const { collaboration: _, ...broken } = JSON.parse(goldenText(name)) as Record<string, unknown>
    put('broken.json', JSON.stringify({ ...broken, collaboration: {} }))
    const fine = await log('validate', name)
    expect(fine).toMatchObject({ code: 0, stderr: '' })
    expect(fine.stdout).toMatch(/: valid \(\d+ warnings?\)\n {2}\/\S+: warning: /)
    const both = await log('validate', name, 'broken.json')
    expect(both.code).toBe(1)
    expect(both.stdout).toMatch(/\nbroken\.json: not valid \(\d+ errors?/)
    expect(both.stdout).toMatch(/\n {2}\/collaboration\S*: error: /)
    expect(hasState()).toBe(false)
  })

  test('[MUS-159] migrate prints or writes the present format, and the original stays as it was', async () => {
    const { log, put, json, path, names } = bench()
    const old = goldenText('v2-phases.json')
    put('old.json', old)
    const printed = await log('migrate', 'old.json')
    expect(printed.code).toBe(0)
    expect(JSON.parse(printed.stdout)).toMatchObject({ sub_sessions: [], messages: [] })
    expect((await log('migrate', 'old.json', '--out', 'new-multi.json')).code).toBe(0)
    expect(json('new-multi.json')).toEqual(JSON.parse(printed.stdout))
    expect((await log('validate', 'new-multi.json')).stdout).not.toContain('error')
    expect((await log('migrate', 'old.json', '--out', 'old.json')).code).toBe(4)
    expect(readFileSync(path('old.json'), 'utf8')).toBe(old)
    expect(names()).toEqual(['new-multi.json', 'old.json'])
  })

  test('[MUS-160] repair writes a copy beside the original and prints each repair with its place', async () => {
    const { log, put, path, names } = bench()
    const damaged = goldenText('older-messages.json')
    put('a-multi.json', damaged)
    put('b.json', goldenText('early-title.json'))
    const mended = await log('repair', 'a-multi.json')
    expect(mended).toMatchObject({ code: 0, stderr: '' })
    expect(mended.stdout).toMatch(/^\/messages\/0\S*: /m)
    expect(mended.stdout).toMatch(/a-repaired-multi\.json \(\d+ repairs\)\n$/)
    expect((await log('repair', path('b.json'))).code).toBe(0)
    expect(names()).toEqual(['a-multi.json', 'a-repaired-multi.json', 'b-repaired.json', 'b.json'])
    expect((await log('validate', 'a-repaired-multi.json', 'b-repaired.json')).code).toBe(0)
    expect(readFileSync(path('a-multi.json'), 'utf8')).toBe(damaged)
    expect((await log('repair', 'a-multi.json')).code).toBe(4)
  })

  test('[MUS-163] a file that is too large or nested too deep is refused with the limit', async () => {
    const { log, put, path } = bench()
    openSync(path('large.json'), 'w')
    truncateSync(path('large.json'), 3 * 2 ** 30)
    put('deep.json', `{"session_id":"x","tool_calls":${'['.repeat(20_000)}${']'.repeat(20_000)}}`)
    for (const command of ['validate', 'migrate', 'repair']) {
      const large = await log(command, 'large.json')
      expect(large, command).toMatchObject({ code: 2, stdout: '' })
      expect(large.stderr).toContain('large.json has 3221 MB; at most 419 MB can be read')
      const deep = await log(command, 'deep.json')
      expect(deep.code, command).not.toBe(0)
      expect(deep.stdout + deep.stderr).toContain('nested deeper than 200 levels')
    }
  })

  test('[MUS-163] an import sends neither, and goes on with the files beside them', async () => {
    const { put, path } = bench()
    openSync(path('a.json'), 'w')
    truncateSync(path('a.json'), 3 * 2 ** 30)
    put('b.json', `{"session_id":${'['.repeat(20_000)}${']'.repeat(20_000)}}`)
    put('c.json', '\ufeff{"session_id":"c"}')
    const sent: unknown[] = []
    const client = {
      importLog: async ({ document }: { document?: unknown }) => {
        sent.push(document)
        return { sessionId: 'ses_x' as never, shortId: '1749a2fe', events: 1, repairs: [], duplicate: false }
      },
    }
    const [files = []] = await collect(
      logImport.run({ files: [path('')] }, world({ client, offline: { logRead } }).io),
    )
    expect(files.map(({ refused }) => refused?.message)).toEqual([
      expect.stringContaining('at most 419 MB can be read'),
      expect.stringContaining('nested deeper than 200 levels'),
      undefined,
    ])
    expect(sent).toEqual([{ session_id: 'c' }])
  })
})
