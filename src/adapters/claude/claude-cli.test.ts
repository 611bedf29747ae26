import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { claudeCli } from './claude-cli.ts'

const { signal } = new AbortController()

/** A program that answers as Claude Code does. */
function program(body: string): string {
  const path = join(tempFolder('claude-fake-'), 'claude')
  writeFileSync(path, `#!/bin/sh\n${body}\n`, { mode: 0o755 })
  return path
}
const cli = claudeCli({ env: { PATH: process.env['PATH'] }, isRoot: false })

test('[SM-44] the version is what the program prints', async () => {
  expect(await cli.version(program('echo "2.1.325 (Claude Code)"'), signal)).toBe('2.1.325')
  expect(await cli.version(program('echo "git version 2.39.5"'), signal)).toBeUndefined()
  expect(await cli.version(program('echo "2.1.325 (Claude Code)"; exit 1'), signal)).toBeUndefined()
  expect(await cli.version('/no/such/claude', signal)).toBeUndefined()
})

test('[MUS-213] the login is what the program says of itself', async () => {
  const asked = program('test "$*" = "auth status --json" && echo "$ANSWER"; test -n "$IN"')
  const login = (env: Record<string, string>) => claudeCli({ env, isRoot: false }).login(asked, signal)
  expect(await login({ ANSWER: '{"loggedIn":true,"authMethod":"api_key"}', IN: '1' })).toEqual({
    state: 'in',
    detail: 'by api_key',
  })
  expect(await login({ ANSWER: '{"loggedIn":false,"authMethod":"none"}' })).toMatchObject({ state: 'out' })
  expect(await login({ ANSWER: 'Logged in' })).toMatchObject({ state: 'unknown' })
  expect(await cli.login('/no/such/claude', signal)).toMatchObject({ state: 'unknown' })
})

test('[MUS-85] a question that is called off ends at once', async () => {
  const off = new AbortController()
  const asked = cli.version(program('sleep 60'), off.signal)
  off.abort(new Error('called off'))
  await expect(asked).rejects.toThrow('called off')
})
