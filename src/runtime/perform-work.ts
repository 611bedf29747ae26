import { muster } from '../contract/principal.ts'
import { tokenTotal } from '../core/ledger/model-usage.ts'
import { lateReason, workTime } from '../engine/budgets.ts'
import { FlowStopped, LimitReached } from '../ports/durable.ts'
import type { ModelMessage } from '../ports/model.ts'
import type { FileChange, Tool } from '../ports/tools.ts'
import type { SeenCalls, Work, WorkEnd } from '../ports/workers.ts'
import { wordsOf } from './agent-run.ts'
import { RunStopped } from './live-run.ts'
import { performRun, type RunOutcome, type RunPlan } from './perform-run.ts'
import type { Questions } from './questions.ts'
import type { RuntimeParts } from './runtime-parts.ts'

/** A run that is to do a piece of work, new or taken up. */
export type WorkRun = Pick<
  RunPlan,
  'run' | 'begins' | 'messages' | 'kept' | 'turns' | 'agents' | 'tools' | 'refusal' | 'callId' | 'wrap'
> & {
  /** How long it could not work since it was begun. */
  readonly stoodMs: number
  /** What its calls did before it was cut off. */
  readonly seen?: SeenCalls
}

type Deps = { readonly parts: RuntimeParts; readonly questions: Questions }

/** Runs a built-in agent at a piece of work to its end, in its time. */
export async function performWork(
  { parts, questions }: Deps,
  { work, given, signal }: { readonly work: Work; readonly given: WorkRun; readonly signal: AbortSignal },
): Promise<WorkEnd> {
  const { stoodMs, seen: before, ...plan } = given
  const { run, messages } = plan
  const over = new AbortController()
  const stop = () => run.stop(stoppedBy(signal.reason))
  signal.addEventListener('abort', stop, { once: true, signal: over.signal })
  if (signal.aborted) stop()
  let isLate = false
  const untilMs = run.startedMs + stoodMs + work.timeoutMs
  const isWaiting = () => questions.isAsking(run.runId)
  workTime(parts.clock, { untilMs, isWaiting }, over.signal).then(
    () => {
      isLate = true
      run.stop(new RunStopped('cancelled', muster, lateReason(work)))
    },
    () => {},
  )
  const seen = new CallsSeen(before)
  try {
    const outcome = await performRun(parts, {
      ...plan,
      task: work.prompt,
      depth: 1,
      mode: 'auto',
      model: work.model,
      scopes: work.scopes,
      workspace: work.workspace,
      takeMessages: async () => [],
      refuse: once(work.refuse),
      wrap: (tool) => seen.watched(plan.wrap?.(tool) ?? tool, work.changed),
    })
    // What a limit stops is told what it used; all else that is stopped has no end of its own.
    if (!(signal.reason instanceof LimitReached)) signal.throwIfAborted()
    const durationMs = Math.max(0, parts.clock.now() - run.startedMs)
    const end = endOf(outcome, lastWords(messages), isLate)
    return { ...end, tokens: tokenTotal(run.usage), durationMs, seen: seen.calls }
  } finally {
    over.abort()
  }
}

/** Most that is told of the calls of one run. */
const mostSeen = 500

/** What the calls of a run did, as they gave it back. */
class CallsSeen {
  #changes: readonly FileChange[]
  #commands: SeenCalls['commands']

  constructor({ changes, commands }: SeenCalls = { changes: [], commands: [] }) {
    this.#changes = changes
    this.#commands = commands
  }

  get calls(): SeenCalls {
    return { changes: this.#changes, commands: this.#commands }
  }

  watched(tool: Tool, changed: Work['changed']): Tool {
    return {
      ...tool,
      run: async (input, context) => {
        const outcome = await tool.run(input, context)
        const { changes = [], exitCode } = outcome
        if (changes.length > 0) {
          this.#changes = [...this.#changes, ...changes].slice(-mostSeen)
          changed?.(changes.map(({ path }) => path))
        }
        const { command } = input as { readonly command?: unknown }
        if (typeof command === 'string' && exitCode !== undefined)
          this.#commands = [...this.#commands, { command, exitCode }].slice(-mostSeen)
        return outcome
      },
    }
  }
}

/** A workflow that goes on later leaves its runs open; one that was called off ends them. */
function stoppedBy(reason: unknown): RunStopped {
  if (reason instanceof RunStopped) return reason
  const { how, by, message } =
    reason instanceof FlowStopped
      ? reason
      : {
          how: 'cancelled' as const,
          by: muster,
          message: reason instanceof Error ? reason.message : String(reason),
        }
  return new RunStopped(how, by, message)
}

/** Only the first answer is refused: who errs twice has failed, and is not asked for ever. */
function once(refuse: Work['refuse']): Work['refuse'] {
  let isAsked = false
  return (
    refuse &&
    ((text) => {
      if (isAsked) return undefined
      isAsked = true
      return refuse(text)
    })
  )
}

function endOf(
  outcome: RunOutcome,
  text: string,
  isLate: boolean,
): Pick<WorkEnd, 'status' | 'text' | 'reason' | 'isSpent'> {
  if (outcome.status === 'completed') return { status: 'completed', text: outcome.text }
  if (outcome.status === 'failed')
    return { status: 'failed', text, reason: outcome.reason, ...(outcome.isSpent && { isSpent: true }) }
  return { status: isLate ? 'timeout' : 'failed', text, reason: outcome.why.message }
}

/** What an agent said last, of a run that may not have come to its end. */
export function lastWords(messages: readonly ModelMessage[]): string {
  const last = messages.findLast(({ role }) => role === 'assistant')
  return last?.role === 'assistant' ? wordsOf(last) : ''
}
