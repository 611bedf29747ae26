import type { Draft } from '../../contract/event.ts'
import { statusOf } from '../../contract/status-phrases.ts'
import { assignedFact, completedFact, lineOf } from '../../core/delegation/delegation-facts.ts'
import { draftOf, type Root } from '../../engine/sessions/drafts.ts'
import type { Tool } from '../../ports/tools.ts'
import { givenTask, TaskInput } from '../given-task.ts'
import { LiveRun } from '../live-run.ts'
import { performRun, type RunOutcome } from '../perform-run.ts'
import type { Recorder } from '../recorder.ts'
import { runtimeTool, said, type ToolRun, wrong } from './runtime-tool.ts'

/** Delegation to a subagent: it works for this run, and its result is the answer of the call. */
export const taskTool = (own: ToolRun, recorder: Recorder): Tool =>
  runtimeTool({
    name: 'Task',
    description:
      'Delegates a task to a subagent, which works on it alone and answers once with its result. Say everything it needs: it knows nothing of this conversation. Several calls in one turn run at the same time.',
    category: 'task_management',
    isParallel: true,
    input: TaskInput,
    async run(input, { call }) {
      const { parts, run, agents, depth, scopes } = own
      const { prompt, subagent_type, description } = input
      const name = subagent_type.toLowerCase()
      const agent = agents.find((one) => one.name === name || one.aliases.includes(name))
      if (!agent) return wrong(`there is no agent ${subagent_type}`)
      const taskId = `${run.runId}/${call.callId}`
      const given = givenTask({ from: { agent: run.agent, depth, scopes }, to: agent, input, taskId })
      if ('problems' in given) return wrong(repairWords(given.problems))
      if ('denial' in given) return wrong(`Denied: ${given.denial.reason}`)
      const { assignment, allowed } = given
      const below = { ...run.root, spanId: parts.ids.span(), parentSpanId: call.spanId, taskId }
      recorder.record([
        draftOf(run.root, 'decision.made', {
          subject: 'agent',
          candidates: agents.filter(({ kind }) => kind === 'subagent').map((one) => one.name),
          choice: agent.name,
          ...(description && { reason: description }),
        }),
        draftOf(run.root, 'agent.status.changed', {
          agentId: run.agent.name,
          ...statusOf.delegating(agent.name),
        }),
        draftOf(
          below,
          'agent.task.assigned',
          // The name of the call is there once; that of an input may come again.
          { ...assignedFact({ assignment, from: run.agent.name, to: agent.name, about: prompt }), taskId },
        ),
      ])
      await recorder.durable()
      const child = new LiveRun({
        root: {
          ...run.root,
          runId: parts.ids.run(),
          spanId: parts.ids.span(),
          actor: agent.name,
          parentRunId: run.runId,
        },
        parentSpanId: below.spanId,
        agent,
        parent: run,
        startedMs: parts.clock.now(),
      })
      // Its parent was ended in the same moment.
      if (run.signal.aborted) child.stop(run.signal.reason)
      const outcome = await performRun(parts, {
        run: child,
        begins: [],
        task: prompt,
        depth: depth + 1,
        mode: 'auto',
        callId: call.callId,
        scopes: allowed.scopes,
        workspace: own.workspace,
        agents,
        messages: [{ role: 'user', text: prompt }],
        kept: 0,
        takeMessages: async () => [],
        ...own.below(child),
      })
      recorder.record([taskEnd(below, outcome, agent.name)])
      run.signal.throwIfAborted()
      return outcome.status === 'completed'
        ? said(outcome.text)
        : wrong(`${agent.name} did not finish: ${whyOf(outcome)}`)
    },
  })

const repairWords = (problems: readonly string[]): string =>
  `Nothing was begun, because the input of the task cannot be used:\n\n${problems.map((problem) => `- ${problem}`).join('\n')}\n\nCall Task again with the whole input, corrected.`

const whyOf = (outcome: Exclude<RunOutcome, { status: 'completed' }>): string =>
  outcome.status === 'failed' ? outcome.reason : outcome.why.message

function taskEnd(at: Root, outcome: RunOutcome, agentId: string): Draft {
  if (outcome.status === 'completed')
    return draftOf(at, 'task.completed', completedFact(agentId, { summary: outcome.text }))
  const reason = lineOf(whyOf(outcome))
  return outcome.status === 'failed'
    ? draftOf(at, 'task.failed', { agentId, reason, errorType: 'exception' })
    : draftOf(at, 'task.cancelled', { agentId, reason })
}
