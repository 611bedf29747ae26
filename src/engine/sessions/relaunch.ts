import type { AgentCliName } from '../../contract/config/names.ts'
import { AppError } from '../../contract/errors.ts'
import { hasEnded, type SessionState } from '../../core/session/state.ts'
import { draftOf, type Root } from './drafts.ts'
import { launch } from './launch.ts'
import { readSpec } from './launch-spec.ts'
import type { Parts } from './parts.ts'
import { paneOf } from './place.ts'

/** Starts the program of a session again in its own conversation. The prompt is given again only where it never ran. */
export async function relaunch(
  parts: Parts,
  { state, root, by }: { state: Readonly<SessionState>; root: Root; by: string },
  signal: AbortSignal,
): Promise<'resumed' | 'begun anew'> {
  const { managed } = state
  const spec = await readSpec(parts, managed?.launch)
  if (!managed || !spec)
    throw new AppError('conflict', 'how it was started is not known any more; spawn a new one with: sm spawn')
  const waiting = state.queue?.find((message) => message.by === 'launch')
  const files = await parts.clis[managed.cli as AgentCliName].transcripts({
    workingDir: managed.workingDir,
    startedAtMs: managed.startedAtMs,
    env: spec.env,
    ...(managed.foreignId && { foreignId: managed.foreignId }),
    ...(managed.transcript && { transcript: managed.transcript }),
  })
  const isUntouched = files.length === 0
  if (managed.cli === 'custom' || (!isUntouched && !managed.foreignId))
    throw new AppError(
      'conflict',
      `${managed.cli} cannot go on with a conversation; spawn a new one with: sm spawn`,
    )
  // Without any record of a conversation the first prompt has certainly not run.
  const prompt = isUntouched ? await promptOf(parts, waiting?.vault) : ''
  if (managed.place) await parts.terminal.close(paneOf(managed.place), signal)
  if (hasEnded(state))
    await parts.engine.perform([draftOf(root, 'session.reopened', { by, reason: 'resumed' })])
  await launch(
    parts,
    { ...spec, root, prompt, ...(!isUntouched && managed.foreignId && { resume: managed.foreignId }) },
    signal,
  )
  return isUntouched ? 'begun anew' : 'resumed'
}

async function promptOf(parts: Parts, vault: string | undefined): Promise<string> {
  const bytes = vault === undefined ? undefined : await parts.vault.get(vault)
  return bytes ? new TextDecoder().decode(bytes) : ''
}
