import { join } from 'node:path'
import { agentFiles, writeAgent } from '../../adapters/agents/agent-files.ts'
import { loadConfig } from '../../adapters/config/load-config.ts'
import { findProject, musterPaths } from '../../adapters/config/muster-paths.ts'
import { crewFiles } from '../../adapters/crews/crew-files.ts'
import { loadCrews } from '../../api/definitions.ts'
import type { LoadedAgents } from '../../contract/agent-definition.ts'
import type { Crew } from '../../contract/crew.ts'
import type { LoadedCrews } from '../../contract/crew-definition.ts'
import type { AgentRequest, OfflinePlace, WrittenAgent } from '../../contract/offline.ts'
import { checkAgents } from '../../core/definitions/check-agents.ts'
import { findAgent } from '../../core/definitions/find-definition.ts'
import { newAgent, refuseName } from '../../core/definitions/new-agent.ts'
import type { FileTrust } from '../../ports/definitions.ts'
import { agentHomes, homeFiles, shippedFolder } from '../home.ts'
import { savedTrust, trustIn } from './saved-trust.ts'

/** The agents that count in a folder, and everything that is wrong with their files. */
export async function agentsLoad(place: OfflinePlace, signal: AbortSignal): Promise<LoadedAgents> {
  const { root } = await findProject(place.cwd, place.home)
  const files = agentFiles(agentHomes(musterPaths(place)))
  const trusts = await trustOf(place)
  const loaded = await files.load({ root, trusts: trusts(root) }, signal)
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

/** The crews that count in a folder, and everything that is wrong with their files. */
export async function crewsLoad(place: OfflinePlace, signal: AbortSignal): Promise<LoadedCrews<Crew>> {
  const { root } = await findProject(place.cwd, place.home)
  const paths = musterPaths(place)
  const trusts = await trustOf(place)
  // Members work in work trees, where no program of a project's settings runs.
  const { config } = await loadConfig({ ...place, projectTrust: () => () => false }, signal)
  const parts = {
    crews: crewFiles({ shippedDir: shippedFolder('crews'), userDir: paths.userCrewsDir }),
    agents: agentFiles(agentHomes(paths)),
    clis: config.clis,
  }
  return loadCrews(parts, { root, trusts: trusts(root) }, signal)
}

/** What a person trusts of projects, as the daemon last wrote it down. */
export const trustOf = async (place: OfflinePlace): Promise<(root: string) => FileTrust> =>
  trustIn(await savedTrust(homeFiles(musterPaths(place).stateDir).trust))
