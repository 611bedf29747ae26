import { join } from 'node:path'
import { agentFiles } from '../../adapters/agents/agent-files.ts'
import { writeAgent } from '../../adapters/agents/write-agent.ts'
import { findProject } from '../../adapters/config/find-project.ts'
import { musterPaths } from '../../adapters/config/muster-paths.ts'
import type { LoadedAgents } from '../../contract/agent-definition.ts'
import type { AgentRequest, OfflinePlace, WrittenAgent } from '../../contract/offline.ts'
import { checkAgents } from '../../core/definitions/check-agents.ts'
import { findAgent } from '../../core/definitions/find-definition.ts'
import { newAgent, refuseName } from '../../core/definitions/new-agent.ts'
import { shippedFolder } from '../shipped-folder.ts'

/** The agents that count in a folder, and everything that is wrong with their files. */
export async function agentsLoad(place: OfflinePlace, signal: AbortSignal): Promise<LoadedAgents> {
  const { root } = await findProject(place.cwd, place.home)
  const { userAgentsDir } = musterPaths(place)
  const files = agentFiles({ shippedDir: shippedFolder('agents'), userDir: userAgentsDir })
  const loaded = await files.load({ root, trusted: false }, signal)
  return { ...loaded, problems: checkAgents(loaded) }
}

/** Writes a new agent file into the project, or among the user's own. */
export async function agentsNew(
  request: AgentRequest,
  place: OfflinePlace,
  signal: AbortSignal,
): Promise<WrittenAgent> {
  const name = request.name.toLowerCase()
  const { agents } = await agentsLoad(place, signal)
  refuseName(name, agents)
  const from = request.from === undefined ? undefined : findAgent(agents, request.from)
  const kind = request.kind ?? from?.kind ?? 'main'
  const { root } = await findProject(place.cwd, place.home)
  const folder = request.isUser
    ? { dir: musterPaths(place).userAgentsDir }
    : { dir: join(root, 'agents'), within: root }
  const file = await writeAgent(newAgent({ name, kind, from }), folder)
  return { name, kind, source: request.isUser ? 'user' : 'project', file }
}
