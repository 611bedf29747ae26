import { agentFiles } from '../../adapters/agents/agent-files.ts'
import { findProject } from '../../adapters/config/find-project.ts'
import { loadConfig } from '../../adapters/config/load-config.ts'
import { musterPaths } from '../../adapters/config/muster-paths.ts'
import { crewFiles } from '../../adapters/crews/crew-files.ts'
import type { Crew } from '../../contract/crew.ts'
import type { LoadedCrews } from '../../contract/crew-definition.ts'
import type { OfflinePlace } from '../../contract/offline.ts'
import { loadCrews } from '../load-crews.ts'
import { shippedFolder } from '../shipped-folder.ts'

/** The crews that count in a folder, and everything that is wrong with their files. */
export async function crewsLoad(place: OfflinePlace, signal: AbortSignal): Promise<LoadedCrews<Crew>> {
  const { root } = await findProject(place.cwd, place.home)
  const { userAgentsDir, userCrewsDir } = musterPaths(place)
  const { config } = await loadConfig({ ...place, projectTrust: false }, signal)
  const parts = {
    crews: crewFiles({ shippedDir: shippedFolder('crews'), userDir: userCrewsDir }),
    agents: agentFiles({ shippedDir: shippedFolder('agents'), userDir: userAgentsDir }),
    clis: config.clis,
  }
  return loadCrews(parts, { root, trusted: false }, signal)
}
