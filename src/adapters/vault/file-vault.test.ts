import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { openVault as openFileVault } from './file-vault.ts'

async function openVault(dir: string, keyFile: string) {
  const vault = await openFileVault(dir, keyFile)
  onTestFinished(() => vault.close())
  return vault
}

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
  const two = await vault.put(Buffer.from('raw prompt of the same size'.slice(0, bytes.length)), 'run_1')
  const path = join(dir, 'vault', one.slice(0, 32), 'pack')
  const whole = readFileSync(path)
  const read = async (changed: Buffer, name: string) => {
    writeFileSync(path, changed)
    return (await openVault(join(dir, 'vault'), join(dir, 'vault.key'))).get(name)
  }
  const head = 36
  for (const at of [head, head + 12, head + 28, head + 28 + bytes.length - 1]) {
    const changed = Buffer.from(whole)
    changed[at] = (changed[at] as number) ^ 1
    await expect(read(changed, one)).rejects.toThrow(/damaged/)
  }
  const sealed = 28 + bytes.length
  const swapped = Buffer.from(whole)
  whole.copy(swapped, head, head + sealed + head)
  await expect(read(swapped, one)).rejects.toThrow(/damaged/)
  expect(await read(whole, two)).toBeDefined()
  const stranger = await openVault(join(dir, 'vault'), join(dir, 'other.key'))
  await expect(stranger.get(one)).rejects.toThrow(/another key/)
})

test('[MUS-45] what a killed writer left half written is cut off, and all before it is there', async () => {
  const dir = tempFolder()
  const open = () => openVault(join(dir, 'vault'), join(dir, 'vault.key'))
  const vault = await open()
  const names: string[] = []
  for (const text of ['one', 'two', 'three']) names.push(await vault.put(Buffer.from(text), 'run_1'))
  const path = join(dir, 'vault', (names[0] ?? '').slice(0, 32), 'pack')
  const whole = readFileSync(path)
  const two = 2 * (36 + 28 + 3)
  for (let cut = two; cut < whole.length; cut += 7) {
    writeFileSync(path, whole.subarray(0, cut))
    const again = await open()
    expect(Buffer.from((await again.get(names[1] ?? '')) ?? []).toString()).toBe('two')
    expect(await again.get(names[2] ?? '')).toBeUndefined()
    const four = await again.put(Buffer.from('four'), 'run_1')
    expect(Buffer.from((await (await open()).get(four)) ?? []).toString()).toBe('four')
  }
})

test('[MUS-45] many at once, of many owners, and the same twice', async () => {
  const dir = tempFolder()
  const vault = await openVault(join(dir, 'vault'), join(dir, 'vault.key'))
  const texts = Array.from({ length: 300 }, (_, i) => `text ${i % 250}`)
  const names = await Promise.all(texts.map((text, i) => vault.put(Buffer.from(text), `run_${i % 100}`)))
  const again = await openVault(join(dir, 'vault'), join(dir, 'vault.key'))
  const read = await Promise.all(
    names.map(async (name) => Buffer.from((await again.get(name)) ?? []).toString()),
  )
  expect(read).toEqual(texts)
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
