import type { Config } from '../contract/config.ts'
import { createRedactor, type Redactor, type RedactorOptions } from '../core/redaction/redactor.ts'
import type { Redact, Redacted, Words } from '../engine/prepare.ts'
import { WorkerCalls, workerEntry } from './worker-calls.ts'

/** Drafts larger than this are redacted in another thread, so that they do not hold up the others. */
const largeChars = 64 * 1024

/** Redaction as the daemon uses it: at once for small drafts, in a thread for large ones. */
export function daemonRedaction(options: RedactorOptions): {
  redactor: Redactor
  redact: Redact
  close(): Promise<void>
} {
  const redactor = createRedactor(options)
  const worker = new WorkerCalls(workerEntry('redact-worker'), options)
  return {
    redactor,
    redact: (words) =>
      isLarge(words) ? worker.call<Redacted<Words>>('event', words) : redactor.event(words),
    close: () => worker.close(),
  }
}

/** What the configuration and the environment say must not be written. */
export function redactorOptions(
  config: Config['redaction'],
  env: Readonly<Record<string, string | undefined>>,
): RedactorOptions {
  const patterns = config.known_env.map(
    (glob) => new RegExp(`^${glob.replaceAll('*', '.*').replaceAll('?', '.')}$`, 'i'),
  )
  const knownValues = Object.entries(env).flatMap(([name, value]) =>
    value && patterns.some((pattern) => pattern.test(name)) ? [value] : [],
  )
  return {
    rules: config.rules.map(({ name, pattern, flags }) => ({ name, pattern, ...(flags && { flags }) })),
    knownValues,
    sensitiveKeys: config.keys,
  }
}

/** Counts characters of strings only until it is sure; a small draft costs a short walk. */
function isLarge(value: unknown): boolean {
  let chars = 0
  const walk = (item: unknown): boolean => {
    if (typeof item === 'string') {
      chars += item.length
      return chars > largeChars
    }
    if (item === null || typeof item !== 'object') return false
    for (const child of Object.values(item)) if (walk(child)) return true
    return false
  }
  return walk(value)
}
