import { constants, promises as fs } from 'node:fs'
import { dirname } from 'node:path'

/** Two writers of one file must not share a half-written one. */
let writes = 0

/** Writes a file so that a crash leaves the old one or the new one, never a half. */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  writes = (writes + 1) % 1000
  const temporary = `${path}.new${writes}`
  const handle = await fs.open(temporary, 'w', 0o600)
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await fs.rename(temporary, path)
  await syncFolder(dirname(path))
}

/** Makes new and renamed names inside a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await fs.open(path, constants.O_RDONLY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** A private folder, made with its parents. */
export async function privateFolder(path: string): Promise<string> {
  await fs.mkdir(path, { recursive: true, mode: 0o700 })
  return path
}
