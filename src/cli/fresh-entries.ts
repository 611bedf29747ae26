type Entry = { readonly at: string; readonly who: string; readonly text: string }

/** The entries of a list's end that an earlier look at its end has not shown: the two overlap where they agree longest. */
export function freshEntries<E extends Entry>(seen: readonly E[], now: readonly E[]): E[] {
  for (let overlap = Math.min(seen.length, now.length); overlap > 0; overlap--) {
    const start = seen.length - overlap
    if (now.slice(0, overlap).every((entry, i) => isSame(entry, seen[start + i]))) return now.slice(overlap)
  }
  return [...now]
}

function isSame(a: Entry, b: Entry | undefined): boolean {
  return b !== undefined && a.at === b.at && a.who === b.who && a.text === b.text
}
