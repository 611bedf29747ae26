import type { ReviewFinding } from '../../contract/session-file/outputs.ts'

/** A finding as one entry of a list. */
export function findingWords(finding: ReviewFinding): string {
  const { finding_id, severity, category, file, line, description, rationale, suggestion } = finding
  const place = file === '' ? '' : ` ${file}${line === undefined ? '' : `:${line}`}`
  const optional = severity === 'suggestion' ? ' (may be left)' : ''
  const more = [rationale, suggestion && `Suggestion: ${suggestion}`].filter(Boolean).map(indented)
  return [`- [${finding_id}] ${severity}, ${category}${optional}${place}: ${description}`, ...more].join('\n')
}

const indented = (text: string | undefined): string => `  ${(text ?? '').replaceAll('\n', '\n  ')}`
