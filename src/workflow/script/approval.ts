import type { PayloadOf } from '../../contract/event.ts'
import type { SpanId } from '../../contract/ids.ts'
import { type Flow, NotApproved } from '../../ports/durable.ts'
import { askPerson } from '../ask-person.ts'
import { tellApproved, tellCreated, whoGranted } from '../creation.ts'
import type { ScriptInput, ScriptParts } from './script-procedure.ts'

/** Writes that there is a script, and waits until somebody has approved it; what follows hangs under that. */
export async function approval(
  { clock, events }: Pick<ScriptParts, 'clock' | 'events'>,
  flow: Flow,
  input: ScriptInput,
): Promise<{ readonly spanId: SpanId; readonly atMs: number }> {
  const { meta, source } = input
  const created = await tellCreated(flow, {
    name: meta.name,
    script: source.files[source.main] ?? '',
    phases: meta.phases,
    ...(meta.estimate?.tokens !== undefined && { estimatedTokens: meta.estimate.tokens }),
  })
  if (input.approvedBy === undefined) {
    const decision = await askPerson(flow, 'approval', scriptCard(input))
    if (decision.verdict === 'deny') throw new NotApproved('it', decision.reason)
  }
  const granted = () => whoGranted(events(flow.root().sessionId, ['approval.granted']), 'workflow')
  return tellApproved(flow, {
    clock,
    created,
    by: async () => ({ approvedBy: input.approvedBy ?? (await granted()) }),
  })
}

/** What a person sees before anything of a script runs. */
export function scriptCard({
  meta,
  limits,
  source,
  unsafe,
}: Pick<ScriptInput, 'meta' | 'limits' | 'source' | 'unsafe'>): Omit<
  PayloadOf<'approval.requested'>,
  'approvalId'
> {
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
    ...(unsafe === undefined ? [] : ['Walls: none, it can reach whatever the daemon can']),
    `Script: ${source.main}, ${Object.keys(source.files).length} file(s)`,
  ]
  return {
    subject: 'workflow',
    action: `Run the workflow ${meta.name}: ${meta.description}`,
    reason: lines.join('\n'),
    scope: { phases, limits, ...(estimate && { estimate }), ...(tools && { tools }), writes },
    risk: unsafe !== undefined ? 'high' : writes.length > 0 ? 'medium' : 'low',
  }
}
