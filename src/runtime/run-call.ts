import { statusOf } from '../contract/status-phrases.ts'
import { type Denial, gateCall } from '../core/delegation/gate-call.ts'
import { toolCategory } from '../core/delegation/tool-category.ts'
import { draftOf } from '../engine/sessions/drafts.ts'
import type { ModelCall, ToolAnswer } from '../ports/model.ts'
import { nothingFound, type Tool, type ToolOutcome } from '../ports/tools.ts'
import type { AgentRun, RunDeps } from './agent-run.ts'
import { givenTask, TaskInput } from './given-task.ts'

const previewChars = 2000

/** A call and what came of it. */
export type DoneCall = {
  readonly answer: ToolAnswer
  readonly isMalformed: boolean
  /** A search that ran well and found nothing. */
  readonly isEmptySearch: boolean
  readonly isChange: boolean
  /** The run is over with it. */
  readonly ends?: ToolOutcome['ends']
}

/** An answer as it is kept: whether the run was over with it is needed to replay it. */
export type KeptAnswer = ToolAnswer & { readonly ends?: ToolOutcome['ends'] }

/** A call, and what the model said when it made it. */
type Call = ModelCall & { readonly why: string }

/** Runs one call of a model: read, gated, done and told; whatever happens, it has one end and one answer. */
export async function runCall(deps: RunDeps, run: AgentRun, call: Call): Promise<DoneCall> {
  const { root } = run
  const at = { ...root, spanId: deps.newSpan(), parentSpanId: root.spanId }
  const which = { callId: call.callId, tool: call.tool }
  const tool = run.tools.get(call.tool)
  const input = tool?.input.safeParse(call.input)
  deps.record([
    chosen(run, call),
    draftOf(at, 'tool.call.started', {
      ...which,
      ...(tool && { category: toolCategory(tool.name, call.input, tool.category) }),
      ...(isObject(call.input) && { params: call.input as never }),
    }),
  ])
  const startedAt = deps.clock.monotonic()
  const took = () => ({ durationMs: Math.round(deps.clock.monotonic() - startedAt) })
  const failed = (text: string, isMalformed: boolean): DoneCall => {
    deps.record([draftOf(at, 'tool.call.failed', { ...which, ...took(), error: text })])
    return done(call, { text, isError: true }, { isMalformed })
  }
  const denied = (denial: Denial): DoneCall => {
    deps.record([draftOf(at, 'tool.call.denied', { ...which, ...denial })])
    return done(call, { text: `Denied: ${denial.reason}`, isError: true })
  }
  const gated = await deniedBy(run, call, tool)
  if (gated) return denied(gated)
  if (call.malformed !== undefined) return failed('the input of this call is not JSON; send it again', true)
  if (!tool)
    return failed(`there is no tool ${call.tool}; use one of ${[...run.tools.keys()].join(', ')}`, true)
  if (!input?.success) {
    const [issue] = input?.error.issues ?? []
    return failed(`the input is not valid: ${issue?.path.join('.')}: ${issue?.message}; send it again`, true)
  }
  const refused = await deps.refusal({ callId: call.callId, tool: tool.name, input: input.data })
  if (refused) return denied(refused)
  run.signal.throwIfAborted()
  deps.onStatus(statusOf.calling(tool.name))
  // What may change something outside is told before it is done.
  if (tool.category !== 'perception') await deps.durable()
  const output = deps.output(tool.name)
  const context = {
    workspace: run.workspace,
    writable: [...run.scopes, run.agent.workGlobs].filter((globs) => globs.length > 0),
    mayChange: run.agent.policy.allow.includes('Patch'),
    seen: run.seen,
    seenBefore: run.seenBefore,
    signal: run.signal,
    onOutput: output.push,
    call: { callId: call.callId, spanId: at.spanId },
  }
  const outcome = await tool
    .run(input.data, context)
    .finally(output.end)
    .catch((error: unknown) => {
      const reason = run.signal.aborted ? 'cancelled' : `a bug in the tool: ${String(error)}`
      deps.record([draftOf(at, 'tool.call.failed', { ...which, ...took(), error: reason, reason })])
      run.signal.throwIfAborted()
      throw error
    })
  // What it did is recorded also when the run was cancelled meanwhile.
  if (outcome.changes?.length) deps.onChanges(outcome.changes)
  const ended = { at, which, took: took() }
  const answered = done(call, { ...outcome, text: bounded(outcome.text, deps.resultChars) })
  const kept: KeptAnswer = { ...answered.answer, ...(outcome.ends && { ends: outcome.ends }) }
  deps.record(async () => endOf(ended, outcome, await deps.keep(kept)))
  run.signal.throwIfAborted()
  return answered
}

/** The choice was the model's; its words are the reason. */
const chosen = ({ root, agent, tools }: AgentRun, { tool, why }: Call) =>
  draftOf(root, 'decision.made', {
    subject: 'tool',
    candidates: agent.tools.includes('*') ? [...tools.keys()] : [...agent.tools],
    choice: tool,
    ...(why !== '' && { reason: why.slice(0, previewChars) }),
  })

/** The beginning and the end of what is too long: results of commands often say what matters last. */
function bounded(text: string, most: number): string {
  if (text.length <= most) return text
  const [head, tail] = [Math.ceil(most * 0.6), Math.floor(most * 0.4)]
  return `${text.slice(0, head)}\n… ${text.length - head - tail} characters are left out …\n${text.slice(-tail)}`
}

async function deniedBy(run: AgentRun, call: ModelCall, tool: Tool | undefined) {
  const { agent, depth, scopes } = run
  const input = isObject(call.input) ? call.input : {}
  const name = typeof input['subagent_type'] === 'string' ? input['subagent_type'] : input['to']
  const target =
    typeof name === 'string'
      ? { target: { name: name.slice(0, 100), agent: run.agents.get(name.toLowerCase()) } }
      : {}
  const changes = tool && call.malformed === undefined ? await tool.changes(call.input, run.workspace) : []
  const command = typeof input['command'] === 'string' ? { command: input['command'] } : {}
  const act = { tool: call.tool, changes, ...command, ...target }
  return gateCall({ agent, depth, scopes }, act) ?? deniedTask(run, call)
}

/** Work that could not be done within its scope is refused like any other call; a broken one fails when it is read. */
function deniedTask({ agent, depth, scopes, agents }: AgentRun, call: ModelCall): Denial | undefined {
  const input = call.tool === 'Task' ? TaskInput.safeParse(call.input) : undefined
  if (!input?.success) return undefined
  const given = givenTask({
    from: { agent, depth, scopes },
    to: agents.get(input.data.subagent_type.toLowerCase()),
    input: input.data,
    taskId: call.callId,
  })
  return 'denial' in given ? given.denial : undefined
}

type Ended = {
  readonly at: Parameters<typeof draftOf>[0]
  readonly which: { readonly callId: string; readonly tool: string }
  readonly took: { readonly durationMs: number }
}

function endOf({ at, which, took }: Ended, outcome: ToolOutcome, vault: string) {
  const { text, isError, isTruncated, exitCode, changes = [], scopeViolation = [] } = outcome
  const said = { display: text.slice(0, previewChars) }
  const more = {
    ...which,
    ...took,
    vault,
    ...((isTruncated || text.length > previewChars) && { truncated: true }),
  }
  const broken =
    scopeViolation.length > 0
      ? { reason: `scope_violation: ${scopeViolation.join(', ').slice(0, 1000)}` }
      : {}
  return [
    isError || scopeViolation.length > 0
      ? draftOf(at, 'tool.call.failed', {
          ...more,
          ...broken,
          error: said.display,
          ...(exitCode !== undefined && { exitCode }),
        })
      : draftOf(at, 'tool.call.completed', { ...more, result: said }),
    ...(changes.length > 0 ? [draftOf(at, 'patch.created', { files: [...changes] })] : []),
  ]
}

const done = (
  { callId, tool }: ModelCall,
  outcome: ToolOutcome,
  { isMalformed = false }: { isMalformed?: boolean } = {},
): DoneCall => ({
  answer: { callId, tool, text: outcome.text, isError: outcome.isError },
  isMalformed,
  isEmptySearch: !outcome.isError && isEmptySearch(tool, outcome.text),
  isChange: (outcome.changes?.length ?? 0) > 0,
  ...(outcome.ends && { ends: outcome.ends }),
})

const isEmptySearch = (tool: string, text: string): boolean =>
  (tool === 'Glob' && text === nothingFound.files) || (tool === 'Grep' && text.startsWith(nothingFound.lines))

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
