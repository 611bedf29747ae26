import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { openVault } from './file-vault.ts'

const text = 'raw prompt with a password'
const bytes = Buffer.from(text)
const filesOf = (dir: string) =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((path) => statSync(path).isFile())

test('[MUS-45][MUS-46] an entry comes back whole and nothing of it is on disk in plain text', async () => {
  const dir = tempFolder()
  const vault = await openVault(join(dir, 'vault'), join(dir, 'vault.key'))
  const name = await vault.put(bytes, 'run_1')
  expect(Buffer.from((await vault.get(name)) ?? [])).toEqual(bytes)
  expect(statSync(join(dir, 'vault.key')).mode & 0o777).toBe(0o600)
  for (const path of filesOf(dir)) expect(readFileSync(path).includes('password')).toBe(false)
  const again = await openVault(join(dir, 'vault'), join(dir, 'vault.key'))
  expect(Buffer.from((await again.get(name)) ?? [])).toEqual(bytes)
})

test('[MUS-47] a changed entry, one under another name, or another key is refused', async () => {
  const dir = tempFolder()
  const vault = await openVault(join(dir, 'vault'), join(dir, 'vault.key'))
  const one = await vault.put(bytes, 'run_1')
  const two = await vault.put(Buffer.from('other'), 'run_1')
  const path = join(dir, 'vault', one)
  const sealed = readFileSync(path)
  for (const at of [0, 12, 28, sealed.length - 1]) {
    const changed = Buffer.from(sealed)
    changed[at] = (changed[at] as number) ^ 1
    writeFileSync(path, changed)
    await expect(vault.get(one)).rejects.toThrow(/damaged/)
  }
  writeFileSync(path, readFileSync(join(dir, 'vault', two)))
  await expect(vault.get(one)).rejects.toThrow(/damaged/)
  writeFileSync(path, sealed)
  const stranger = await openVault(join(dir, 'vault'), join(dir, 'other.key'))
  await expect(stranger.get(one)).rejects.toThrow(/another key/)
})

test('[MUS-48] entries go only after their owner was released and the time has passed', async () => {
  const dir = tempFolder()
  const vault = await openVault(join(dir, 'vault'), join(dir, 'vault.key'))
  const kept = await vault.put(bytes, 'run_kept')
  const old = await vault.put(bytes, 'run_old')
  await vault.release('run_old', 1000)
  await vault.release('run_unknown', 1000)
  expect(await vault.sweep(1000)).toBe(0)
  expect(await vault.sweep(1001)).toBe(1)
  expect(await vault.get(old)).toBeUndefined()
  expect(await vault.get(kept)).toBeDefined()
})

test('[MUS-49] a missing or odd name is answered with nothing, never with another file', async () => {
  const dir = tempFolder()
  const vault = await openVault(join(dir, 'vault'), join(dir, 'vault.key'))
  for (const name of ['', '../vault.key', `${'0'.repeat(32)}/${'0'.repeat(64)}`])
    expect(await vault.get(name)).toBeUndefined()
})
