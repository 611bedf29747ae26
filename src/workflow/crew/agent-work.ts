import { withGuidelines } from '../../core/collaboration/prompts/quoted.ts'
import { repairPrompt } from '../../core/collaboration/prompts/repair-prompt.ts'
import type { Read } from '../../core/collaboration/replies/read-reply.ts'
import { derivedSpan } from '../../core/session-log/derived-ids.ts'
import type { Flow, FlowRoot } from '../../ports/durable.ts'
import type { WorkEnd } from '../../ports/workers.ts'
import type { CrewParts, Someone } from './crew-parts.ts'

/** A question to an agent, and how its answer is read. */
export type AgentWork<T> = {
  readonly name: string
  readonly who: Someone
  readonly prompt: string
  readonly read: (text: string) => Read<T>
  readonly folder: string
  readonly scope?: readonly string[]
  readonly timeoutMs: number
  readonly taskId?: string
  readonly about?: string
}

/** What came of it: the end of the agent, and its answer where it gave one that can be used. */
export type Answered<T> = { readonly end: WorkEnd; readonly reply: T | undefined }

/** Has an agent do something, as one step; an answer that cannot be used is asked for once more. */
export async function agentWork<T>(
  parts: Pick<CrewParts, 'workers'>,
  flow: Flow,
  { at, work }: { readonly at: FlowRoot; readonly work: AgentWork<T> },
): Promise<Answered<T>> {
  const { name, who, prompt, read, folder, scope = [], timeoutMs, taskId, about } = work
  const { member, id } = who
  const end = await flow.step(name, async ({ signal, isAgain, count }) => {
    const ended = await parts.workers.run(
      {
        root: flow.root(),
        spanId: derivedSpan(`${flow.id} agent ${name}`),
        parentSpanId: at.spanId,
        agent: member.agent,
        name: id,
        cli: member.cli,
        model: member.model,
        prompt: withGuidelines(prompt, member.guidelines),
        workspace: folder,
        scope,
        timeoutMs,
        refuse: (text) => {
          const said = read(text)
          return 'problems' in said ? repairPrompt(said.problems) : undefined
        },
        brief: (text) => {
          const said = read(text)
          return 'value' in said ? summaryOf(said.value) : undefined
        },
        isAgain,
        ...(taskId !== undefined && { taskId }),
        ...(about !== undefined && { about }),
      },
      signal,
    )
    count({ tokens: ended.tokens })
    return ended
  })
  const said = read(end.text)
  return { end, reply: 'value' in said ? said.value : undefined }
}

function summaryOf(reply: unknown): string | undefined {
  const { summary } = (reply ?? {}) as { summary?: unknown }
  return typeof summary === 'string' && summary !== '' ? summary : undefined
}
