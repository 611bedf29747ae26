import type { Config } from '../../contract/config.ts'
import type { RedactionReport } from '../../contract/offline.ts'
import { createRedactor } from '../../core/redaction/redactor.ts'
import { redactorOptions } from '../redaction.ts'

/** What redaction would take out of a text, and where; the text goes nowhere. */
export function redactTest(
  text: string,
  config: Config['redaction'],
  env: Readonly<Record<string, string | undefined>>,
): RedactionReport {
  const redactor = createRedactor(redactorOptions(config, env))
  const findings = redactor.find(text).map((span) => ({ rule: span.class, ...placeOf(text, span.start) }))
  return { redacted: redactor.text(text).text, findings }
}

function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset)
  const line = before.split('\n').length
  return { line, column: offset - before.lastIndexOf('\n') }
}
