import type { RunId, SessionId } from '../contract/ids.ts'
import type { RuntimeParts } from './parts.ts'
import { type SoFar, soFar } from './so-far.ts'

type Place = { readonly sessionId: SessionId; readonly runId: RunId; readonly workspace: string }

/** What a run did before it was cut off, when its calls that were under way have been tidied up. */
export async function tidyCutOff(parts: RuntimeParts, place: Place): Promise<SoFar> {
  const done = await soFar(parts, place.sessionId, place.runId)
  for (const { tool, path } of done.unfinished) {
    const known = parts.tools.find(({ name }) => name === tool)
    // What cannot be tidied up does not keep a run from its end.
    await known?.tidy?.(path, place.workspace).catch(() => {})
  }
  return done
}
