import { nameStrength, wordsOf } from './secret-names.ts'
import type { TextScanner } from './text-scanner.ts'

/** What a property name says about its value, and whether it is a secret itself. */
export type KeyKind = 'plain' | 'sensitive' | 'pair-value' | 'secret'

/** Remembers the answer for each name: an event has few, and always the same. */
export type KeyBook = { readonly kind: (key: string) => KeyKind }

/** `extra` are further sensitive names; case and separators do not matter. */
export function createKeyBook(scanner: TextScanner, extra: readonly string[]): KeyBook {
  const own = new Set(extra.map((name) => wordsOf(name).join('')))
  const known = new Map<string, KeyKind>()
  const judge = (key: string): KeyKind => {
    if (scanner.spans(key).length > 0) return 'secret'
    if (nameStrength(key) !== 'none' || own.has(wordsOf(key).join(''))) return 'sensitive'
    return key === 'value' ? 'pair-value' : 'plain'
  }
  return {
    kind(key) {
      const kind = known.get(key)
      if (kind !== undefined) return kind
      // Keys made from data must not fill the memory, nor stay in it.
      if (known.size >= maxKeys) known.clear()
      const judged = judge(key)
      if (judged !== 'secret' && key.length <= maxKeyLength) known.set(key, judged)
      return judged
    },
  }
}

const maxKeys = 4096
const maxKeyLength = 128
