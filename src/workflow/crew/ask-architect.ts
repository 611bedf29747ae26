import type { Consulted, Decision } from '../../core/delegation/task-failure.ts'
import { type Answered, askAgent, type Question } from '../../engine/delegation/ask-agent.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { FlowRoot } from '../../ports/durable.ts'
import { folderOf, type Someone, workerOf } from './crew-parts.ts'
import type { CrewRun } from './crew-run.ts'

/** A question to the architect of a crew, and how its answer is read. */
type Consultation<T> = Pick<Question<T>, 'name' | 'prompt' | 'read' | 'resultSchema'>

/** Asks the architect to decide; nothing where there is none, and why where it gives no answer that can be used. */
export async function askArchitect<T>(
  crew: CrewRun,
  at: FlowRoot,
  asked: Consultation<T>,
): Promise<Consulted<T> | undefined> {
  if (!crew.planner) return undefined
  const answered = await consult(crew, crew.planner, { at, asked })
  return answered.reply === undefined ? { silent: silenceOf(answered) } : { reply: answered.reply }
}

type Asking<T> = { readonly at: FlowRoot; readonly asked: Consultation<T> }

/** One consultation. A built-in architect has one run, in which each is a turn; a program has a run for each. */
export const consult = <T>(
  { parts, flow, input, path, developerMs: timeoutMs }: CrewRun,
  architect: Someone,
  { at, asked }: Asking<T>,
): Promise<Answered<T>> =>
  askAgent(parts, flow, {
    at,
    question: {
      ...asked,
      who: workerOf(architect),
      folder: folderOf(input, path),
      timeoutMs,
      isTurn: architect.member.cli === 'own',
    },
  })

/** Why an answer cannot be used. */
export const silenceOf = ({ end, problems }: Answered<unknown>): string =>
  end.status === 'completed' ? problems.join('; ') : (end.reason ?? 'it gave none')

type Recorded = {
  readonly name: string
  readonly at: FlowRoot
  readonly decision: Decision
  /** Whoever decided; the crew itself where the rules did. */
  readonly by?: string | undefined
}

/** Writes what was decided, by whom and why. */
export async function recordDecision({ flow }: CrewRun, { name, at, decision, by }: Recorded): Promise<void> {
  const { subject, choice, reason, candidates } = decision
  await flow.step(name, async ({ tell }) => {
    const said = { subject, choice, reason, candidates: [...candidates] }
    tell(draftOf({ ...at, actor: by ?? at.actor }, 'decision.made', said))
  })
}
