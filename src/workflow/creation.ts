import { derivedSpan } from '../contract/derived-ids.ts'
import type { Fact, PayloadOf } from '../contract/event.ts'
import type { SpanId } from '../contract/ids.ts'
import { draftOf } from '../engine/sessions/drafts.ts'
import type { Clock } from '../ports/clock.ts'
import type { Flow } from '../ports/durable.ts'

/** Writes what a workflow is going to do; its approval hangs under that. */
export async function tellCreated(
  flow: Flow,
  what: Omit<PayloadOf<'workflow.created'>, 'workflowId'>,
): Promise<SpanId> {
  const root = flow.root()
  const spanId = derivedSpan(`${flow.id} created`)
  await flow.step(
    'created',
    async ({ tell }) => {
      const { workflowId } = root
      const place = { ...root, spanId, parentSpanId: root.spanId }
      tell(draftOf(place, 'workflow.created', { workflowId, ...what }))
    },
    { again: true },
  )
  return spanId
}

type Approval = {
  readonly clock: Pick<Clock, 'now'>
  readonly created: SpanId
  readonly by: () => Promise<Pick<PayloadOf<'workflow.approved'>, 'approvedBy' | 'reason'>>
}

/** Writes who let it go on, and when. */
export async function tellApproved(
  flow: Flow,
  { clock, created, by }: Approval,
): Promise<{ readonly spanId: SpanId; readonly atMs: number }> {
  const root = flow.root()
  const spanId = derivedSpan(`${flow.id} approved`)
  const atMs = await flow.step(
    'approved',
    async ({ tell, gave }) => {
      // A fork tells a script the same time as before: answers are known again by what was asked.
      const atMs = typeof gave === 'number' ? gave : clock.now()
      const { workflowId } = root
      const approvedAt = new Date(atMs).toISOString()
      const place = { ...root, spanId, parentSpanId: created }
      tell(draftOf(place, 'workflow.approved', { workflowId, approvedAt, ...(await by()) }))
      return atMs
    },
    { again: true },
  )
  return { spanId, atMs }
}

/** Who began a session: without a question to anybody, that is who let its workflow run. */
export async function whoBegan(started: AsyncIterable<Fact>): Promise<string> {
  for await (const { actor } of started) return actor
  return 'a person'
}

/** Who approved what was asked about last. */
export async function whoGranted(
  granted: AsyncIterable<Fact>,
  subject: PayloadOf<'approval.granted'>['subject'],
): Promise<string> {
  let by = 'a person'
  for await (const event of granted)
    if (event.type === 'approval.granted' && event.payload.subject === subject) by = event.actor
  return by
}
