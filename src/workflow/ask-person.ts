import type { Decision } from '../contract/decision.ts'
import { derivedSpan, derivedUuid } from '../contract/derived-ids.ts'
import type { PayloadOf } from '../contract/event.ts'
import { draftOf } from '../engine/sessions/drafts.ts'
import { type Flow, waitStep } from '../ports/durable.ts'

/** Under this a workflow hears the answer to its question. */
export const approvalTopic = (approvalId: string): string => `approval ${approvalId}`

/** Asks a person, and waits for the answer however long it takes and whatever happens meanwhile. */
export async function askPerson(
  flow: Flow,
  name: string,
  card: Omit<PayloadOf<'approval.requested'>, 'approvalId'>,
): Promise<Decision> {
  const key = `${flow.id}/${name}`
  const approvalId = `apr_${derivedUuid(key).replaceAll('-', '').slice(0, 26)}`
  await flow.step(
    `${name}:ask`,
    async ({ tell }) => {
      const root = flow.root()
      tell(
        draftOf({ ...root, spanId: derivedSpan(key), parentSpanId: root.spanId }, 'approval.requested', {
          ...card,
          approvalId,
        }),
        draftOf(root, 'session.state.changed', { to: 'waiting_input' }),
      )
    },
    // A question of another run cannot be answered in this one.
    { again: { unless: waitStep(name) } },
  )
  const said = await flow.waitSignal(approvalTopic(approvalId), { as: name })
  await flow.step(`${name}:answered`, async ({ tell }) => {
    const root = flow.root()
    tell(draftOf(root, 'session.state.changed', { to: 'running' }))
  })
  return said?.value as Decision
}
