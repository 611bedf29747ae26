/** Gives names that nobody has: the wanted one, or it with a number behind. Many wanting one name stay cheap. */
export function freeNames(taken: Iterable<string>): (wanted: string) => string {
  const used = new Set(taken)
  const next = new Map<string, number>()
  return (wanted) => {
    let name = wanted
    let n = next.get(wanted) ?? 2
    for (; used.has(name); n++) name = `${wanted}~${n}`
    next.set(wanted, n)
    used.add(name)
    return name
  }
}
