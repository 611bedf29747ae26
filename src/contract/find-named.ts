import { nearest } from './config/nearest.ts'

/** What is found by its names, which are in lower case. */
export type Named = { readonly name: string; readonly aliases: readonly string[] }

/** Finds something by its name or an alias, in any case, or says which of all names was most likely meant. */
export function findNamed<T extends Named>(
  all: readonly T[],
  wanted: string,
): { readonly found: T } | { readonly found: undefined; readonly near: string | undefined } {
  const word = wanted.toLowerCase()
  const found = all.find(({ name }) => name === word) ?? all.find(({ aliases }) => aliases.includes(word))
  if (found !== undefined) return { found }
  const near = nearest(
    word,
    all.flatMap(({ name, aliases }) => [name, ...aliases]),
  )
  return { found, near }
}
