/** The box where prompts are typed: characters, and pastes that only show a marker. */
export class Box {
  readonly #mostShown: number
  #parts: (string | { readonly marker: string; readonly text: string })[] = []
  #count = 0

  constructor(mostShown: number) {
    this.#mostShown = mostShown
  }

  type(text: string): void {
    for (const char of text) this.#parts.push(char)
  }

  paste(text: string): void {
    const lines = text.split('\n').length - 1
    if (text.length <= this.#mostShown && lines <= 2) return this.type(text)
    this.#count += 1
    const marker = `[Pasted text #${this.#count}${lines > 0 ? ` +${lines} lines` : ''}]`
    this.#parts.push({ marker, text })
  }

  erase(): void {
    this.#parts.pop()
  }

  clear(): void {
    this.#parts = []
  }

  /** What Enter would send. */
  get text(): string {
    return this.#parts.map((part) => (typeof part === 'string' ? part : part.text)).join('')
  }

  get shown(): string {
    return this.#parts.map((part) => (typeof part === 'string' ? part : part.marker)).join('')
  }
}

const mostRows = 20

/** The rows of the box, scrolled to the end of its text. */
export function boxRows(shown: string, columns: number): string[] {
  const rows: string[] = []
  for (const line of shown.replaceAll('\t', '    ').split('\n')) {
    let row = ''
    let width = 0
    for (const char of line) {
      // Wide or not, nobody knows what the terminal thinks: each may take two cells.
      width += char < '\u0300' ? 1 : 2
      if (width > columns - 4) {
        rows.push(row)
        row = ''
        width = char < '\u0300' ? 1 : 2
      }
      row += char
    }
    rows.push(row)
  }
  return rows.slice(-mostRows)
}
