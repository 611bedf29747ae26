import { sessionFiles } from '../contract/home.ts'
import { type SessionId, shortId } from '../contract/ids.ts'
import { hasEnded, type SessionState } from '../core/session/state.ts'
import type { Engine } from '../engine/engine.ts'
import { sessionMark } from '../engine/sessions/launch.ts'
import type { Processes, Stray } from '../ports/processes.ts'

type Deps = {
  readonly engine: Engine
  readonly processes: Processes
  /** The state folder. */
  readonly home: string
  /** When a session ended that is over. */
  readonly endedMs: (id: SessionId) => Promise<number | null>
}

/** A process that may have been left by a session: nothing proves it. */
type Suspect = { readonly sessionId: SessionId; readonly stray: Stray }

/**
 * Where no control group holds what a session starts, a process can leave it with a clean environment. It is told as a
 * suspect when it began while the session ran, belongs to nobody now, and has its folder or an open file where the
 * session works. Only a person can say whose it is: nobody ends it unasked.
 */
export async function suspectsOf(
  { engine, processes, home, endedMs }: Deps,
  isWanted: (id: SessionId) => boolean | Promise<boolean>,
  signal: AbortSignal,
): Promise<readonly Suspect[]> {
  const all = [...engine.sessions(), ...engine.endedSessions()].flatMap((state) => sceneOf(state, home) ?? [])
  if (all.length === 0) return []
  const programs = all.flatMap(({ isOver, pid }) => (isOver ? [] : [pid]))
  const given = { mark: sessionMark, folders: all.flatMap(({ folders }) => folders), programs }
  const found: Suspect[] = []
  for (const stray of await processes.strays(given, signal)) {
    // Of several that work in one folder, the one that began last is the likeliest.
    const likely = all.filter((scene) => fits(scene, stray)).toSorted((a, b) => b.startedAtMs - a.startedAtMs)
    for (const { sessionId, isOver } of likely) {
      const end = isOver ? await endedMs(sessionId) : null
      if (end !== null && stray.startedAtMs > end + lastMs) continue
      if (await isWanted(sessionId)) found.push({ sessionId, stray })
      break
    }
  }
  return found
}

/** Where and when a session works or worked. */
type Scene = {
  readonly sessionId: SessionId
  readonly pid: number
  readonly isOver: boolean
  readonly startedAtMs: number
  readonly folders: readonly string[]
}

function sceneOf(state: Readonly<SessionState>, home: string): Scene | undefined {
  const { sessionId, managed } = state
  if (managed?.place === undefined || managed.isGrouped) return undefined
  const { workingDir, startedAtMs, place } = managed
  return {
    sessionId,
    pid: place.pid,
    isOver: hasEnded(state),
    startedAtMs,
    folders: [
      `${home}/${sessionFiles.folder}/${shortId(sessionId)}`,
      // In a home folder anybody's programs are.
      ...(isWithin(home, workingDir) ? [] : [workingDir]),
    ],
  }
}

/** The system counts whole seconds, and its idea of when it was started shifts a little. */
const shiftMs = 2000
/** A program may start others while it ends. */
const lastMs = 10_000

const fits = ({ startedAtMs, folders }: Scene, stray: Stray): boolean =>
  stray.startedAtMs + shiftMs >= startedAtMs && folders.some((folder) => stray.folders.includes(folder))

const isWithin = (path: string, folder: string): boolean =>
  `${path}/`.startsWith(folder === '/' ? '/' : `${folder}/`)
