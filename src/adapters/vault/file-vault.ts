import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
} from 'node:crypto'
import { promises as fs } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../contract/errors.ts'
import type { Vault } from '../../ports/storage.ts'
import { privateFolder, replaceFile } from '../system/durable-files.ts'
import { missing } from '../system/foreign-files.ts'
import { Pack } from './pack.ts'

const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16

const mostOpen = 64

/**
 * Entries in one pack for each owner, `<dir>/<owner>/pack`, each AES-256-GCM with its name as associated data: an
 * entry moved under another name does not open. The name is a keyed hash, so it tells nothing of the content.
 */
export async function openVault(dir: string, keyFile: string): Promise<Vault> {
  await privateFolder(dir)
  const master = await loadKey(keyFile)
  const contentKey = Buffer.from(hkdfSync('sha256', master, '', 'muster vault content', keyBytes))
  const nameKey = createSecretKey(Buffer.from(hkdfSync('sha256', master, '', 'muster vault name', keyBytes)))
  const folderOf = (owner: string) =>
    join(dir, createHmac('sha256', nameKey).update(owner).digest('hex').slice(0, 32))

  const packs = new Map<string, Promise<Pack>>()
  const packOf = async (folder: string): Promise<Pack> => {
    const known = packs.get(folder)
    if (known && !(await known).isBroken) return known
    const opening = Pack.open(join(folder, 'pack'))
    packs.set(folder, opening)
    opening.catch(() => packs.delete(folder))
    await closeIdle()
    return opening
  }
  const forget = async (folder: string): Promise<void> => {
    const known = packs.get(folder)
    packs.delete(folder)
    await (await known)?.close()
  }
  /** Those that were opened first, as long as nothing is being written into them. */
  const closeIdle = async (): Promise<void> => {
    for (const folder of [...packs.keys()].slice(0, Math.max(0, packs.size - mostOpen)))
      if ((await packs.get(folder))?.isIdle) await forget(folder)
  }

  return {
    async put(bytes, owner) {
      const folder = folderOf(owner)
      const digest = createHmac('sha256', nameKey).update(bytes).digest('hex')
      const name = `${folder.slice(-32)}/${digest}`
      const pack = await packOf(folder)
      if (!pack.has(digest)) await pack.append(digest, seal(contentKey, name, bytes))
      return name
    },
    async get(name) {
      const [, owner, digest] = /^([0-9a-f]{32})\/([0-9a-f]{64})$/.exec(name) ?? []
      if (owner === undefined || digest === undefined) return undefined
      const sealed = await (await packOf(join(dir, owner))).read(digest)
      return sealed && unseal(contentKey, name, sealed)
    },
    async release(owner, endedAt) {
      const folder = folderOf(owner)
      const there = await fs.stat(folder).catch(missing)
      if (there) await replaceFile(join(folder, 'released'), String(endedAt))
    },
    async sweep(releasedBefore) {
      let gone = 0
      for (const owner of await fs.readdir(dir)) {
        const folder = join(dir, owner)
        const released = await fs.readFile(join(folder, 'released'), 'utf8').catch(missing)
        if (released === undefined || Number(released) >= releasedBefore) continue
        gone += (await packOf(folder)).size
        await forget(folder)
        await fs.rm(folder, { recursive: true })
      }
      return gone
    },
    async close() {
      await Promise.all([...packs.keys()].map(forget))
    },
  }
}

async function loadKey(path: string): Promise<Buffer> {
  const existing = await fs.readFile(path).catch(missing)
  if (existing) {
    if (existing.length !== keyBytes)
      throw new AppError(
        'failed',
        `${path} is not a vault key of ${keyBytes} bytes; restore it from a backup`,
      )
    return existing
  }
  const key = randomBytes(keyBytes)
  await replaceFile(path, key)
  return key
}

function seal(key: Buffer, name: string, bytes: Uint8Array): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(name))
  const body = Buffer.concat([cipher.update(bytes), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), body])
}

function unseal(key: Buffer, name: string, sealed: Buffer): Uint8Array {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes))
      .setAAD(Buffer.from(name))
      .setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes))
    return Buffer.concat([decipher.update(sealed.subarray(nonceBytes + tagBytes)), decipher.final()])
  } catch (cause) {
    throw new AppError('failed', `the vault entry ${name} is damaged or was sealed with another key`, {
      cause,
    })
  }
}
