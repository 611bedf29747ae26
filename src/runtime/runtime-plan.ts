import type { SignalOf } from '../contract/signal.ts'
import { toolPolicy } from '../core/approvals/permissions.ts'
import type { Denial } from '../core/delegation/gate-call.ts'
import type { RunPlan } from './perform-run.ts'
import type { Recorder } from './recorder.ts'
import { askingTools } from './tools/ask-people.ts'
import { blackboardTool } from './tools/blackboard.ts'
import { type ToolRun, WorkNotes } from './tools/runtime-tool.ts'
import { speakingTools } from './tools/speak.ts'
import { taskTool } from './tools/task.ts'
import { taskListTools } from './tools/task-list.ts'

/** The tools of the runtime itself for one run, and what is asked before its calls. */
export function runtimePlan(given: Omit<ToolRun, 'below'>): Pick<RunPlan, 'tools' | 'refusal'> {
  const own: ToolRun = {
    ...given,
    below: (child) => runtimePlan({ ...given, run: child, depth: given.depth + 1, notes: new WorkNotes() }),
  }
  return {
    tools: (recorder) => [
      taskTool(own, recorder),
      ...speakingTools(own, recorder),
      ...askingTools(own, recorder),
      ...taskListTools(own, recorder),
      blackboardTool(own, recorder),
    ],
    refusal: (call, recorder) => refusal(own, call, recorder),
  }
}

type Call = { readonly tool: string; readonly input: unknown }

async function refusal(own: ToolRun, call: Call, recorder: Recorder): Promise<Denial | undefined> {
  const { parts, run, notes, questions } = own
  if (notes.isPlanning && !fitsPlanning(own, call))
    return {
      gate: 'approval',
      rule: 'plan_mode',
      reason:
        'you are planning: nothing may be changed or delegated before the plan is approved with ExitPlanMode',
    }
  const { action, rule } = toolPolicy(run.settings ?? parts.config().runtime, call)
  if (action === 'allow') return undefined
  if (action === 'deny')
    return { gate: 'approval', rule, reason: `${call.tool} is not allowed here (${rule})` }
  const signal: SignalOf<'asking'> = {
    kind: 'asking',
    source: 'explicit',
    at: parts.clock.now(),
    ask: 'permission',
    ...call,
  }
  if (questions.isRemembered(parts.engine.session(run.root.sessionId), signal)) return undefined
  await recorder.durable()
  const decision = await questions.ask(run, signal)
  return decision.verdict === 'allow'
    ? undefined
    : { gate: 'approval', rule, reason: decision.reason ?? 'the person who was asked said no' }
}

/** What only reads, asks or plans. A tool that is not named here may do anything: one of a server, or one to come. */
const planning = new Set([
  'LSP',
  'AskUserQuestion',
  'EnterPlanMode',
  'ExitPlanMode',
  'TaskCreate',
  'TaskUpdate',
  'TaskList',
  'Finalize',
])

function fitsPlanning({ parts }: ToolRun, { tool, input }: Call): boolean {
  if (planning.has(tool)) return true
  if (tool === 'Blackboard') return (input as { readonly operation?: unknown }).operation !== 'put'
  return parts.tools.find(({ name }) => name === tool)?.category === 'perception'
}
