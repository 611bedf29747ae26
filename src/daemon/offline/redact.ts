import type { Config } from '../../contract/config.ts'
import type { RedactionReport } from '../../contract/offline.ts'
import { positionAt } from '../../contract/yaml-position.ts'
import { createRedactor } from '../../core/redaction/redactor.ts'
import { redactorOptions } from '../redaction.ts'

/** What redaction would take out of a text, and where; the text goes nowhere. */
export function redactTest(
  text: string,
  config: Config['redaction'],
  env: Readonly<Record<string, string | undefined>>,
): RedactionReport {
  const redactor = createRedactor(redactorOptions(config, env))
  const findings = redactor.find(text).map((span) => ({ rule: span.class, ...positionAt(text, span.start) }))
  return { redacted: redactor.text(text).text, findings }
}
