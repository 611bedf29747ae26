import { createHmac } from 'node:crypto'
import { linked } from '../../contract/linked.ts'
import type { Attempt, Notice, Notifier } from '../../ports/notifier.ts'

/** Where notices are sent; `${NAME}` in the address stands for a variable, so that no secret is in a file. */
export type WebhookOptions = {
  readonly url: string
  readonly secretEnv?: string | undefined
  readonly timeoutMs: number
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Posts notices as JSON. Whoever gets one twice knows it by its `Idempotency-Key`. */
export function webhook(options: WebhookOptions): Notifier {
  return {
    async send(notice, signal) {
      const missing = [...names(options.url), ...(options.secretEnv ? [options.secretEnv] : [])].find(
        (name) => !options.env[name],
      )
      if (missing !== undefined)
        return { kind: 'refused', why: `${missing} is not set in the environment of the daemon` }
      const url = options.url.replaceAll(placeholder, (_all, name: string) => options.env[name] ?? '')
      return post(url, notice, { options, signal })
    },
  }
}

const placeholder = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g
const names = (url: string): string[] => [...url.matchAll(placeholder)].map(([, name = '']) => name)

async function post(
  url: string,
  notice: Notice,
  { options, signal }: { options: WebhookOptions; signal: AbortSignal },
): Promise<Attempt> {
  const body = JSON.stringify(notice)
  const secret = options.secretEnv && options.env[options.secretEnv]
  using late = linked(signal)
  const timer = setTimeout(() => late.abort(), options.timeoutMs)
  try {
    const response = await fetch(url, {
      method: 'POST',
      body,
      // An address that sends elsewhere would be given what was meant for another.
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        'idempotency-key': notice.id,
        'user-agent': 'muster',
        ...(secret && {
          'x-muster-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
        }),
      },
      signal: late.signal,
    })
    await response.body?.cancel()
    return answerOf(response)
  } catch (error) {
    signal.throwIfAborted()
    return { kind: 'later', why: late.signal.aborted ? 'no answer in time' : causeOf(error) }
  } finally {
    clearTimeout(timer)
  }
}

/** Slow down, come back and all that is their own fault are tried again; that they do not want it is final. */
function answerOf({ status, headers }: Response): Attempt {
  if (status >= 200 && status < 300) return { kind: 'taken' }
  const why = `it answered ${status}`
  if (status !== 408 && status !== 425 && status !== 429 && status < 500) return { kind: 'refused', why }
  const seconds = Number(headers.get('retry-after'))
  return { kind: 'later', why, ...(seconds > 0 && { afterMs: seconds * 1000 }) }
}

/** The address may hold a secret, so of an error only its code is told. */
function causeOf(error: unknown): string {
  const { cause } = error as { cause?: { code?: unknown } }
  return typeof cause?.code === 'string' ? cause.code : 'it could not be reached'
}
