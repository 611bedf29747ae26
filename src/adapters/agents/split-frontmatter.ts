/** The two halves of an agent file; `line` is where the YAML begins. */
export type SplitFile =
  | { readonly yaml: string; readonly line: number; readonly body: string }
  | { readonly missing: 'start' | 'end' }

/** Takes a file apart at its two `---` lines; line ends of any kind become `\n`. */
export function splitFrontmatter(text: string): SplitFile {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)
  if (!isFence(lines[0])) return { missing: 'start' }
  const end = lines.findIndex((line, index) => index > 0 && isFence(line))
  if (end === -1) return { missing: 'end' }
  return {
    yaml: lines.slice(1, end).join('\n'),
    line: 2,
    body: lines
      .slice(end + 1)
      .join('\n')
      .trim(),
  }
}

function isFence(line: string | undefined): boolean {
  return line !== undefined && line.trimEnd() === '---'
}
