const longest = 100

/** Finds the known word that a misspelt one most likely meant; nothing when none is near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  // Nobody misspells a word into hundreds of letters, and comparing them takes seconds.
  if (word.length > longest) return undefined
  const wanted = fold(word)
  const allowed = Math.max(1, Math.floor(wanted.length / 3))
  let best: { word: string; distance: number } | undefined
  for (const candidate of known) {
    const distance = editDistance(wanted, fold(candidate))
    if (distance <= allowed && distance < (best?.distance ?? Infinity)) best = { word: candidate, distance }
  }
  return best?.word ?? known.find((candidate) => sharesWords(wanted, fold(candidate)))
}

function fold(word: string): string {
  return word
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll('-', '_')
}

function sharesWords(wanted: string, candidate: string): boolean {
  return wanted.length >= 4 && (candidate.endsWith(`_${wanted}`) || wanted.endsWith(`_${candidate}`))
}

// Two swapped letters count as one edit: it is the commonest slip of the fingers.
function editDistance(a: string, b: string): number {
  const rows: number[][] = Array.from({ length: a.length + 1 }, (_, i) => [i])
  const cell = (i: number, j: number): number => rows[i]?.[j] ?? j
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min(cell(i - 1, j) + 1, cell(i, j - 1) + 1, cell(i - 1, j - 1) + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, cell(i - 2, j - 2) + 1)
      }
      rows[i]?.splice(j, 1, cost)
    }
  }
  return cell(a.length, b.length)
}
