import * as z from 'zod'
import { handoffLimit } from '../../core/delegation/gate-call.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { Tool } from '../../ports/tools.ts'
import type { Recorder } from '../recorder.ts'
import { runtimeTool, said, type ToolRun, wrong } from './runtime-tool.ts'

const Spoken = z.strictObject({ to: z.string().min(1), message: z.string().min(1) })
const Handover = z.strictObject({
  to: z.string().min(1),
  reason: z.string().min(1),
  context: z.string().optional(),
})
const Packet = z.strictObject({
  title: z.string().min(1).max(500),
  summary: z.string().optional(),
  user_stories: z.array(z.string()).default([]),
  acceptance_criteria: z.array(z.string()).default([]),
  mermaid_wireframe: z.string().optional(),
})

/** What main agents say to each other, and how one passes control on. */
export function speakingTools(own: ToolRun, recorder: Recorder): readonly Tool[] {
  const { parts, run, agents } = own
  const named = (word: string) => {
    const name = word.toLowerCase()
    return agents.find((one) => one.name === name || one.aliases.includes(name))
  }
  const as = (name: string) => ({ agentId: name, agentType: name })
  return [
    runtimeTool({
      name: 'SendMessage',
      description: 'Sends a message to another main agent. It does not wait for an answer.',
      category: 'interaction',
      input: Spoken,
      async run({ to, message }, { call }) {
        const agent = named(to)
        if (!agent) return wrong(`there is no agent ${to}`)
        recorder.record([
          draftOf(run.root, 'agent.message.created', {
            messageId: `${run.runId}:${call.callId}`,
            from: as(run.agent.name),
            to: as(agent.name),
            text: message,
          }),
        ])
        await recorder.durable()
        await own.tell(agent.name, `Message from ${run.agent.name}:\n\n${message}`)
        return said(`${agent.name} has it.`)
      },
    }),
    runtimeTool({
      name: 'Handoff',
      description:
        'Passes control to another main agent: it continues, and the person talks to it from then on. Your run ends.',
      category: 'interaction',
      input: Handover,
      async run({ to, reason, context }, { call }) {
        const agent = named(to)
        if (!agent) return wrong(`there is no agent ${to}`)
        const pair = { from: as(run.agent.name), to: as(agent.name) }
        const at = { ...run.root, spanId: parts.ids.span(), parentSpanId: call.spanId }
        recorder.record([draftOf(at, 'handoff.requested', { ...pair, reason, ...(context && { context }) })])
        await recorder.durable()
        const cycle = await own.handOver(agent.name)
        if (cycle) {
          const refusal = `control was passed in a circle: ${cycle.join(' → ')}; finish it yourself`
          recorder.record([
            draftOf(run.root, 'handoff.loop_detected', {
              cycle: [...cycle],
              count: handoffLimit + 1,
              limit: handoffLimit,
            }),
            draftOf(at, 'handoff.rejected', { ...pair, reason: refusal }),
          ])
          return wrong(refusal)
        }
        recorder.record([draftOf(at, 'handoff.accepted', { ...pair, reason })])
        await recorder.durable()
        await own.tell(
          agent.name,
          `${run.agent.name} handed this over to you: ${reason}${context ? `\n\n${context}` : ''}`,
        )
        return {
          ...said(`${agent.name} goes on.`),
          ends: { text: `Handed over to ${agent.name}: ${reason}` },
        }
      },
    }),
    runtimeTool({
      name: 'Finalize',
      description: 'Ends the task with its packet: what is to be built, for whom, and when it is done.',
      category: 'planning',
      input: Packet,
      run: async (packet) => ({
        ...said('The packet is recorded.'),
        ends: { text: packet.summary ?? packet.title, output: packet },
      }),
    }),
  ]
}
