import { validateSession } from '../src/session-file/validate.ts'
import { example } from '../test/support/std-008.ts'
import { type Figure, ratio } from './support/figure.ts'

export const about = 'the session file validator on a 100 MB file, against JSON.parse of the same text'

const bytes = 100 * 1024 * 1024

export async function run(): Promise<Figure[]> {
  const text = largeFile()
  const parseStart = performance.now()
  const document: unknown = JSON.parse(text)
  const parseMs = performance.now() - parseStart
  const start = performance.now()
  const { valid, errors } = validateSession(document)
  const ms = performance.now() - start
  if (!valid) throw new Error(`the file should be valid: ${JSON.stringify(errors[0])}`)
  return [
    { what: 'size of the file', value: Math.round(text.length / 1e6), unit: 'MB' },
    { what: 'JSON.parse', value: Math.round(parseMs), unit: 'ms' },
    { what: 'validate', value: Math.round(ms), unit: 'ms' },
    ratio('validate / JSON.parse', ms / parseMs),
  ]
}

/** The standard's own example with so many calls in its first sub-session that it fills the size. */
function largeFile(): string {
  const session = example()
  const [sub] = session.sub_sessions
  const [call] = sub?.tool_calls ?? []
  if (!sub || !call) throw new Error('the example has a sub-session with calls')
  const one = JSON.stringify(call).length + 600
  const output = { status: 'success' as const, result: { display: 'x'.repeat(600) } }
  sub.tool_calls = Array.from({ length: Math.ceil(bytes / one) }, (_, i) => ({
    ...call,
    call_id: `call-${i}`,
    output,
  }))
  return JSON.stringify(session)
}
