import type { AgentDefinition } from '../../contract/agent-definition.ts'
import { AppError } from '../../contract/errors.ts'
import { statusOf } from '../../contract/status-phrases.ts'
import { narrowTools } from '../../core/delegation/allowed-tools.ts'
import { lineOf } from '../../core/delegation/delegation-facts.ts'
import { spanKey } from '../../core/session/state.ts'
import type { Conversation } from '../../engine/delegation/conversation.ts'
import { type Delegated, delegate } from '../../engine/delegation/delegate.ts'
import type { BegunTask } from '../../engine/delegation/given-work.ts'
import { draftOf, sessionRoot } from '../../engine/sessions/drafts.ts'
import type { Tool, ToolOutcome } from '../../ports/tools.ts'
import type { Work, Workers } from '../../ports/workers.ts'
import { givenTask, TaskInput } from '../given-task.ts'
import { JournalSteps } from '../journal-steps.ts'
import { LiveRun, RunStopped } from '../live-run.ts'
import { performWork } from '../perform-work.ts'
import type { Recorder } from '../recorder.ts'
import { runtimeTool, said, type ToolRun, wrong } from './runtime-tool.ts'

const progressMs = 30_000

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
      const from = { agent: run.agent, depth, scopes, ...leftOf(own) }
      const given = givenTask({ from, to: agent, input, taskId })
      if ('problems' in given) return wrong(repairWords(given.problems))
      if ('denial' in given) return wrong(`Denied: ${given.denial.reason}`)
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
      ])
      const talk = await own.talk()
      const steps = new JournalSteps({
        id: call.spanId,
        root: run.root,
        signal: run.signal,
        clock: parts.clock,
        recorder,
      })
      const { sessionId } = run.root
      let begun: BegunTask | undefined
      try {
        const done = await delegate(
          {
            clock: parts.clock,
            workers: subagents(own, { agent, callId: call.callId }),
            talk,
            roundsAt() {
              const state = parts.engine.session(sessionId)
              return state && sessionRoot(state, run.agent.name)
            },
            onBug: parts.onBug,
          },
          steps,
          {
            ...given,
            from: { agentId: run.agent.name, agentType: run.agent.name },
            to: { agentId: agent.name, role: agent.name, agent: agent.name, cli: 'own' },
            prompt,
            place: { kind: 'shared', folder: own.workspace },
            parentSpanId: call.spanId,
            progressMs,
            begun: (task) => (begun = task),
          },
        )
        return answerOf(agent.name, done)
      } catch (error) {
        // What broke the protocol was begun by nobody.
        if (error instanceof AppError && !run.signal.aborted) return wrong(error.message)
        const why: unknown = run.signal.reason
        if (begun && why instanceof RunStopped && why.how !== 'daemon')
          await callOff(own, talk, { ...begun, reason: lineOf(why.message) })
        throw error
      }
    },
  })

/** How much time the run has left that gives the work. */
function leftOf({ run, parts }: ToolRun): { readonly leftMs?: number } {
  const { minutes } = run.agent.budget ?? {}
  if (minutes === undefined) return {}
  return { leftMs: Math.max(0, run.startedMs + minutes * 60_000 - parts.clock.now()) }
}

type Called = { readonly agent: AgentDefinition; readonly callId: string }

/** Built-in agents that work below the run of a call. */
const subagents = (own: ToolRun, { agent, callId }: Called): Workers => ({
  async run(work: Work, signal: AbortSignal) {
    const { parts, run, questions, agents } = own
    await work.taken?.()
    const child = new LiveRun({
      root: {
        ...run.root,
        runId: parts.ids.run(),
        spanId: work.spanId,
        actor: agent.name,
        parentRunId: run.runId,
        ...(work.taskId !== undefined && { taskId: work.taskId }),
      },
      parentSpanId: work.parentSpanId,
      agent: { ...agent, tools: narrowTools(agent.tools, work.tools) },
      parent: run,
      startedMs: parts.clock.now(),
      resultSchema: work.resultSchema,
    })
    return performWork(
      { parts, questions },
      {
        work,
        signal,
        given: {
          run: child,
          begins: [],
          messages: [{ role: 'user', text: work.prompt }],
          kept: 0,
          stoodMs: 0,
          agents,
          callId,
          ...own.below(child),
        },
      },
    )
  },
})

/** What was under way when the run was stopped is cancelled, and whoever had it is told. */
async function callOff(
  { parts, run }: ToolRun,
  talk: Conversation,
  { taskId, spanId, agentId, reason }: BegunTask & { readonly reason: string },
): Promise<void> {
  const { engine } = parts
  const state = engine.session(run.root.sessionId)
  const at = { ...run.root, spanId, taskId }
  // Its end may have been written with that of the run.
  if (!state?.open.has(spanKey(state, at))) return
  await talk.callOffNow(run.root, { reason, taskId }, (words) =>
    engine.perform([draftOf({ ...at, actor: agentId }, 'task.cancelled', { agentId, reason }), ...words]),
  )
}

const repairWords = (problems: readonly string[]): string =>
  `Nothing was begun, because the input of the task cannot be used:\n\n${problems.map((problem) => `- ${problem}`).join('\n')}\n\nCall Task again with the whole input, corrected.`

/** The words of the subagent, and what the one that gave the work has to know beside them. */
function answerOf(name: string, { end, failure, notes }: Delegated): ToolOutcome {
  if (end?.status === 'completed') return said([end.text, ...notes].join('\n\n'))
  const why = `${name} did not finish: ${failure?.error ?? end?.reason ?? 'it failed'}`
  return wrong(end?.text ? `${why}\n\nIts last words:\n\n${end.text}` : why)
}
