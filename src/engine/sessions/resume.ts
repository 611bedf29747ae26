import type { AgentCliName } from '../../contract/config/names.ts'
import { AppError } from '../../contract/errors.ts'
import type { Draft } from '../../contract/event.ts'
import type { Asker } from '../../contract/principal.ts'
import { type RestartPlan, restartPlan } from '../../core/session/launch-plan.ts'
import type { TerminalPlace } from '../../core/session/managed.ts'
import { hasEnded, isTurn, type SessionState } from '../../core/session/state.ts'
import { askedBy, draftOf, type Root } from './drafts.ts'
import { conversationOf, type LaunchSpec, launch, readSpec, release } from './launch.ts'
import { paneOf } from './read-screen.ts'
import type { Parts } from './session-parts.ts'

/** Starts the program of a session again in its own conversation. The prompt is given again only where it never ran. */
export async function relaunch(
  parts: Parts,
  { state, root, by }: { state: Readonly<SessionState>; root: Root; by: Asker },
  signal: AbortSignal,
): Promise<void> {
  const { way, spec } = await findWayBack(parts, state, signal)
  if (way.kind === 'none' || !spec)
    throw new AppError('conflict', way.kind === 'none' ? way.why : 'see: sm spawn')
  const { sessionId, managed } = state
  // What is left of it may have the conversation open for a moment longer, and two must never have it.
  await release(parts, { sessionId, program: programOf(managed?.place) }, signal)
  const isAnew = way.kind === 'anew'
  const drafts = [
    ...(hasEnded(state)
      ? [draftOf(askedBy(root, by), 'session.reopened', { by: by.name, reason: 'resumed' })]
      : []),
    ...cutOff(state, root),
    ...(isAnew ? [] : unproved(state, root)),
  ]
  const prompt = isAnew ? await promptOf(parts, way.prompt) : ''
  const resume = isAnew ? {} : { resume: way.foreignId }
  await launch(parts, { ...spec, root, by, prompt, ...resume, first: { drafts } }, signal)
}

/** Only with its start: after a reboot its pid is another's. */
const programOf = (place: TerminalPlace | undefined) =>
  place?.pidStartedMs === undefined
    ? undefined
    : { pid: place.pid, startedAtMs: place.pidStartedMs, pane: paneOf(place), isRunning: true }

/** Turns that were under way when the program went: nobody will ever end them. */
function cutOff(state: Readonly<SessionState>, root: Root): Draft[] {
  const open = [...state.open.values()].filter((one) => one.kind === 'agent' && isTurn(state, one))
  return open.map(({ runId, spanId, facts }) =>
    draftOf({ ...root, runId, spanId }, 'agent.failed', {
      agentId: typeof facts['agentId'] === 'string' ? facts['agentId'] : 'agent',
      reason: 'its program ended in the middle of the turn',
    }),
  )
}

/** A first prompt that the record does not show is not given again: what became of it is not known. */
function unproved(state: Readonly<SessionState>, root: Root): Draft[] {
  const waiting = state.queue?.find(({ by }) => by === 'launch')
  const isSurelyUntyped = state.managed?.isPromptTyped && waiting?.stage === 'queued'
  return waiting && !isSurelyUntyped
    ? [
        draftOf({ ...root, spanId: waiting.spanId, parentSpanId: root.spanId }, 'message.failed', {
          messageId: waiting.messageId,
          errorType: 'gone',
          reason: 'it is not known whether it ran; send it again if you still need it',
        }),
      ]
    : []
}

async function promptOf(parts: Parts, vault: string | undefined): Promise<string> {
  const bytes = vault === undefined ? undefined : await parts.vault.get(vault)
  return bytes ? new TextDecoder().decode(bytes) : ''
}

/** How a session can be started again, and what with; only looks. */
type Found = { readonly way: RestartPlan; readonly spec?: LaunchSpec }

export async function findWayBack(
  parts: Parts,
  state: Readonly<SessionState>,
  signal: AbortSignal,
): Promise<Found> {
  const { managed } = state
  const spec = await readSpec(parts, managed?.launch)
  if (!managed || !spec)
    return { way: none('how it was started is no longer known; start a new one with: sm spawn') }
  if (spec.trusted && !(await isStillTrusted(parts, spec.trusted, signal)))
    return {
      way: none(
        `what the settings in ${spec.trusted.folder} said when it was started is no longer trusted; see: sm trust, or start a new one with: sm spawn`,
      ),
    }
  const cli = parts.clis[managed.cli as AgentCliName]
  const mayHaveRun = await cli.mayHaveRun(conversationOf(managed, spec.env))
  const way = restartPlan(state, mayHaveRun)
  if (way.kind !== 'resume') return { way, spec }
  const other = await runsOutside(parts, { ...way, cli: cli.name, env: spec.env }, signal)
  return other === undefined ? { way, spec } : { way: none(elsewhere(other)), spec }
}

async function isStillTrusted(
  parts: Parts,
  { folder, sha256 }: NonNullable<LaunchSpec['trusted']>,
  signal: AbortSignal,
): Promise<boolean> {
  const { project } = await parts.settingsIn({ folder }, signal)
  return project?.trusted === true && project.sha256 === sha256
}

const none = (why: string): RestartPlan => ({ kind: 'none', why })

/** What a person is told who wants a conversation that somebody else has open. */
export const elsewhere = (pid: number): string =>
  `its conversation is running outside Muster (pid ${pid}); quit it there, then try again`

type Sought = {
  readonly cli: AgentCliName
  readonly foreignId: string
  readonly env: Readonly<Record<string, string>>
}

/** The process outside of Muster that has a conversation open: two on one would write over each other. */
export async function runsOutside(
  parts: Pick<Parts, 'clis' | 'processes'>,
  { cli, foreignId, env }: Sought,
  signal: AbortSignal,
): Promise<number | undefined> {
  for (const { foreignId: id, pid } of await parts.clis[cli].foreign(env, signal)) {
    if (id !== foreignId || pid === undefined) continue
    if (await parts.processes.variable(pid, 'MUSTER_SESSION')) continue
    // One of ours that is just ending tells no variables any more.
    if ((await parts.processes.startedAt(pid)) !== undefined) return pid
  }
  return undefined
}
