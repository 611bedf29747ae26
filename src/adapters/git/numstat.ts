import type { ChangedFile } from '../../ports/workspace.ts'
import { nulWords } from './nul-words.ts'

const changes: Readonly<Record<string, ChangedFile['change']>> = {
  A: 'created',
  D: 'deleted',
  M: 'modified',
  T: 'modified',
}

/** Joins `git diff --numstat -z` and `--name-status -z`, both without renames. */
export function readNumstat(numbers: string, names: string): ChangedFile[] {
  const words = nulWords(names)
  const kinds = new Map<string, ChangedFile['change']>()
  for (let i = 0; i + 1 < words.length; i += 2)
    kinds.set(words[i + 1] as string, changes[words[i]?.[0] ?? 'M'] ?? 'modified')
  return nulWords(numbers).map((line) => {
    const [added = '-', removed = '-', ...rest] = line.split('\t')
    const path = rest.join('\t')
    const count = (text: string) => (text === '-' ? null : Number(text))
    return { path, change: kinds.get(path) ?? 'modified', added: count(added), removed: count(removed) }
  })
}
