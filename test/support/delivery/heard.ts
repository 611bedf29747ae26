/**
 * What one conversation told its model, in order and each occurrence once. It is sent again and again; what is new in
 * it is what it has more of than the last time. A prompt that was interrupted before its answer leaves it, so that the
 * same words may be new once more; line ends behind a text come and go with what follows it.
 */
export class Heard {
  readonly texts: string[] = []
  #last: ReadonlyMap<string, number> = new Map()

  /** Takes the user's texts of one request; answers the new ones. */
  listen(texts: readonly string[]): readonly string[] {
    if (texts.length === 0) return []
    const counts = new Map<string, number>()
    const added = texts.filter((one) => {
      const text = one.trimEnd()
      const count = (counts.get(text) ?? 0) + 1
      counts.set(text, count)
      return count > (this.#last.get(text) ?? 0)
    })
    this.#last = counts
    this.texts.push(...added)
    return added
  }
}
