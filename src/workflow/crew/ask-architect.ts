import { askAgent, type Question } from '../../engine/delegation/ask-agent.ts'
import type { FlowRoot } from '../../ports/durable.ts'
import { folderOf, workerOf } from './crew-parts.ts'
import type { CrewRun } from './crew-run.ts'

/** A question to the architect of a crew, and how its answer is read. */
type Consultation<T> = Pick<Question<T>, 'name' | 'prompt' | 'read' | 'resultSchema'>

/** Asks the architect; nothing where there is none, or where it gives no answer that can be used. */
export async function askArchitect<T>(
  { parts, flow, input, path, planner, developerMs: timeoutMs }: CrewRun,
  at: FlowRoot,
  asked: Consultation<T>,
): Promise<T | undefined> {
  if (!planner) return undefined
  const { reply } = await askAgent(parts, flow, {
    at,
    question: { ...asked, who: workerOf(planner), folder: folderOf(input, path), timeoutMs },
  })
  return reply
}
