/** Puts pieces of text together: spaces collapse, blocks begin on lines of their own. */
export function textLayout() {
  const parts: string[] = []
  let length = 0
  let breaks = 0
  let isSpaced = false
  let isGlued = true
  let isPreformatted = false

  const put = (text: string): void => {
    if (parts.length > 0) parts.push('\n'.repeat(breaks))
    if (isSpaced && breaks === 0 && !isGlued) parts.push(' ')
    parts.push(text)
    length += text.length + breaks
    breaks = 0
    isSpaced = false
    isGlued = false
  }

  return {
    text(text: string): void {
      if (isPreformatted) {
        if (text !== '') put(text)
        return
      }
      const words = text.replaceAll(/\s+/g, ' ')
      isSpaced ||= words.startsWith(' ')
      if (words.trim() !== '') put(words.trim())
      isSpaced ||= words.endsWith(' ')
    },
    /** The next piece begins on a new line, or after an empty one. */
    breakLines(count: 1 | 2): void {
      if (!isPreformatted) breaks = Math.max(breaks, count)
      else if (count === 1) put('\n')
    },
    /** Stands before what comes, with nothing between. */
    before(text: string): void {
      put(breaks > 0 || isGlued ? text.trimStart() : text)
      isGlued = true
    },
    /** Stands behind what came, with nothing between. */
    after(text: string): void {
      parts.push(text)
      isGlued = false
    },
    setPreformatted(isOn: boolean): void {
      if (isOn === isPreformatted) return
      if (isOn) put('```\n')
      else parts.push(parts.at(-1)?.endsWith('\n') ? '```' : '\n```')
      isPreformatted = isOn
      isGlued = isOn
      breaks = isOn ? 0 : 2
    },
    /** About how much there is so far. */
    length: (): number => length,
    isPreformatted: (): boolean => isPreformatted,
    result: (): string => parts.join('').trim(),
  }
}
