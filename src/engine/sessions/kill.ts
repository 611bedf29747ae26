import type { SessionId } from '../../contract/ids.ts'
import type { Place } from '../../core/session/managed.ts'
import type { Parts } from './parts.ts'
import { paneOf } from './place.ts'

const graceMs = 2000

/** Ends everything that a session started, wherever it has got to; answers what is still alive. */
export async function endProcesses(
  parts: Parts,
  { sessionId, place, force }: { sessionId: SessionId; place: Place | undefined; force: boolean },
  signal: AbortSignal,
): Promise<readonly number[]> {
  const root = {
    ...(place && { pid: place.pid }),
    mark: { name: 'MUSTER_SESSION', value: sessionId },
  }
  const left = await parts.processes.endTree(root, { graceMs: force ? 0 : graceMs }, signal)
  if (place) await parts.terminal.close(paneOf(place), signal)
  return left
}
