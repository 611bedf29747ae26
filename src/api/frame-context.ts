import type { AgentEvent } from '../contract/event.ts'
import type { FrameContext } from '../contract/formats/sse.ts'
import type { RunId } from '../contract/ids.ts'
import type { Engine } from '../engine/engine.ts'
import type { Index } from '../ports/index.ts'

const remembered = 10_000

/** What the frames of an event say beyond it: the project of its session, and the agent that its run works for. */
export function frameContext(engine: Engine, index: Index): (event: AgentEvent) => Promise<FrameContext> {
  const agents = new Map<RunId, string>()
  const agentOf = async (runId: RunId): Promise<string | undefined> => {
    const known = agents.get(runId)
    if (known !== undefined) return known
    const [row] = await index.ask('runs', { runId, limit: 1 })
    return row?.agentId ?? undefined
  }
  return async (event) => {
    if (event.type === 'agent.spawned') {
      agents.set(event.runId, event.payload.agentId)
      const oldest = agents.size > remembered ? agents.keys().next().value : undefined
      if (oldest) agents.delete(oldest)
    }
    const projectRoot = engine.session(event.sessionId)?.managed?.workingDir
    // Most events make no frame that names a parent; only those look it up.
    const parent =
      event.parentRunId && event.type.startsWith('agent.') ? await agentOf(event.parentRunId) : undefined
    return {
      ...(projectRoot !== undefined && { projectRoot }),
      ...(parent !== undefined && { parentAgentId: parent }),
    }
  }
}
