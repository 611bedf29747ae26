import { derivedSpan } from '../../contract/derived-ids.ts'
import type { Draft } from '../../contract/event.ts'
import { withSignal } from '../../contract/linked.ts'
import type { StepOptions, Steps, WorkRoot } from '../../ports/durable.ts'
import type { WorkEnd } from '../../ports/workers.ts'
import { draftOf } from '../sessions/drafts.ts'

/** So often work is handed over again that did not reach its agent. */
export const maxRetries = 3

/** The first wait; each is so many times as long as the one before. */
const firstMs = 1000
const growth = 4

/** Work on its way to an agent, and the message that says so, where there is one. */
export type Delivery = {
  readonly name: string
  readonly to: string
  readonly at: WorkRoot
  readonly messageId: string | undefined
  /** Aborted once nobody may work any more. */
  readonly over?: AbortSignal | undefined
  readonly options?: StepOptions | undefined
}

/** How one try ended; what would be refused again is not tried again. */
export type DeliveryTry = WorkEnd & { readonly isRefused?: boolean }

/** One try, from 0; `taken` is called when the agent has it. */
type Try = (attempt: number, taken: () => Promise<void>) => Promise<DeliveryTry>

/**
 * Brings work to its agent, again and again where it does not reach it, each time after a longer wait. It is one message
 * all the time: it waits for delivery from its first failure on, until it is taken or given up.
 */
export async function deliverWork(steps: Steps, work: Delivery, attemptAt: Try): Promise<WorkEnd> {
  const { name, to, at, messageId, over, options } = work
  const tell = (step: string, facts: readonly (Draft | undefined)[]) =>
    steps.step(
      `${name}:${step}`,
      async (given) => given.tell(...facts.filter((fact) => fact !== undefined)),
      options,
    )
  const message =
    messageId === undefined
      ? undefined
      : {
          place: { ...at, spanId: derivedSpan(`${steps.id} ${messageId}`), parentSpanId: at.spanId },
          said: { messageId, to },
        }
  for (let n = 0; ; n++) {
    const attempt = n + 1
    const end = await attemptAt(n, async () => {
      if (n > 0 && message)
        await tell('taken', [
          draftOf(message.place, 'message.accepted', { ...message.said, attempt, proof: 'runtime' }),
        ])
    })
    const { undelivered, reason = 'it did not reach its agent' } = end
    if (undelivered === undefined) return end
    over?.throwIfAborted()
    const queued =
      n === 0 && message
        ? draftOf(message.place, 'message.queued', { messageId: message.said.messageId, attempt })
        : undefined
    if (n === maxRetries || end.isRefused) {
      await tell('given-up', [
        queued,
        message &&
          draftOf(message.place, 'message.failed', {
            ...message.said,
            attempt,
            errorType: undelivered,
            reason,
            retryCount: n,
            maxRetries,
          }),
      ])
      return end
    }
    const delayMs = firstMs * growth ** n
    await tell(`again-${attempt}`, [
      queued,
      draftOf(at, 'retry.scheduled', {
        what: messageId === undefined ? `the start of ${to}` : `message ${messageId} to ${to}`,
        attempt,
        maxAttempts: maxRetries,
        delayMs,
        reason,
      }),
    ])
    const waited = steps.sleep(`${name}:wait-${attempt}`, delayMs)
    // Nobody waits for it once a limit has ended the wait.
    waited.catch(() => {})
    await (over ? withSignal(waited, over) : waited)
  }
}
