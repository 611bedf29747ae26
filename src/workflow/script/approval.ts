import { AppError } from '../../contract/errors.ts'
import type { PayloadOf } from '../../contract/event.ts'
import type { SpanId } from '../../contract/ids.ts'
import { derivedSpan } from '../../core/session-log/derived-ids.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { Flow } from '../../ports/durable.ts'
import { askPerson } from '../ask-person.ts'
import type { ScriptInput, ScriptParts } from './script-parts.ts'

/** Writes that there is a script, and waits until somebody has approved it; what follows hangs under that. */
export async function approval(
  { clock, events }: Pick<ScriptParts, 'clock' | 'events'>,
  flow: Flow,
  input: ScriptInput,
): Promise<{ readonly spanId: SpanId; readonly atMs: number }> {
  const root = flow.root()
  const { workflowId } = root
  const { meta, source } = input
  const created = derivedSpan(`${flow.id} created`)
  await flow.step(
    'created',
    async ({ tell }) => {
      tell(
        draftOf({ ...root, spanId: created, parentSpanId: root.spanId }, 'workflow.created', {
          workflowId,
          name: meta.name,
          script: source.files[source.main] ?? '',
          phases: meta.phases,
          ...(meta.estimate?.tokens !== undefined && { estimatedTokens: meta.estimate.tokens }),
        }),
      )
    },
    { again: true },
  )
  if (input.approvedBy === undefined) {
    const decision = await askPerson(flow, 'approval', scriptCard(input))
    if (decision.verdict === 'deny')
      throw new AppError('denied', `it was not approved${decision.reason ? `: ${decision.reason}` : ''}`)
  }
  const spanId = derivedSpan(`${flow.id} approved`)
  const atMs = await flow.step(
    'approved',
    async ({ tell, gave }) => {
      // A fork tells the script the same time as before: answers are known again by what was asked.
      const atMs = typeof gave === 'number' ? gave : clock.now()
      const approvedBy = input.approvedBy ?? (await whoGranted(events(root.sessionId, ['approval.granted'])))
      const approvedAt = new Date(atMs).toISOString()
      tell(
        draftOf({ ...root, spanId, parentSpanId: created }, 'workflow.approved', {
          workflowId,
          approvedAt,
          approvedBy,
        }),
      )
      return atMs
    },
    { again: true },
  )
  return { spanId, atMs }
}

/** What a person sees before anything of a script runs. */
export function scriptCard({
  meta,
  limits,
  source,
}: Pick<ScriptInput, 'meta' | 'limits' | 'source'>): Omit<PayloadOf<'approval.requested'>, 'approvalId'> {
  const { estimate, tools, writes = [], phases } = meta
  const most = (value: number | undefined, unit: string) =>
    value === undefined ? `any number of ${unit}` : `${value} ${unit}`
  const lines = [
    `Phases: ${phases.join(' → ') || 'none'}`,
    `Agents: ${estimate?.agents === undefined ? '' : `about ${estimate.agents}, `}at most ${limits.agents}, ${limits.concurrency} at a time`,
    `Tokens: ${estimate?.tokens === undefined ? '' : `about ${estimate.tokens}, `}at most ${most(limits.tokens, 'tokens')}`,
    ...(limits.usd === undefined ? [] : [`Money: at most $${limits.usd}`]),
    ...(limits.minutes === undefined ? [] : [`Time: at most ${limits.minutes} min`]),
    `Tools: ${tools?.join(', ') ?? 'those of its agents'}`,
    `May change: ${writes.join(', ') || 'nothing'}`,
    `Script: ${source.main}, ${Object.keys(source.files).length} file(s)`,
  ]
  return {
    subject: 'workflow',
    action: `Run the workflow ${meta.name}: ${meta.description}`,
    reason: lines.join('\n'),
    scope: { phases, limits, ...(estimate && { estimate }), ...(tools && { tools }), writes },
    risk: writes.length > 0 ? 'medium' : 'low',
  }
}

async function whoGranted(granted: AsyncIterable<{ readonly actor: string }>): Promise<string> {
  let by = 'a person'
  for await (const { actor } of granted) by = actor
  return by
}
