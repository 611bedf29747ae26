import type { Signal } from '../../contract/signal.ts'
import { draftOf } from './drafts.ts'
import type { Live } from './sessions.ts'

/** How a program ended by itself. */
export type Exit = {
  readonly at: number
  readonly code?: number | undefined
  readonly signal?: string | undefined
}

/** The program ended by itself: whatever it was asked to do, nobody said that it is done. */
export async function sayExited({ watch, transcript }: Live, exit: Exit): Promise<void> {
  await transcript.settled()
  const { at, code, signal: died } = exit
  const signal: Signal = {
    kind: 'exited',
    source: 'process',
    at,
    ...(code !== undefined && { code }),
    ...(died !== undefined && { signal: died }),
  }
  await watch.take([signal])
  const isOwn = watch.state()?.managed?.cli === 'custom'
  const how = died === undefined ? `exit code ${code ?? 'unknown'}` : `signal ${died}`
  await watch.end(
    code === 0
      ? draftOf(watch.root, 'session.completed', {
          outcome: isOwn ? 'completed' : 'cancelled',
          reason: 'its program was left (exit code 0)',
        })
      : draftOf(watch.root, 'session.failed', { reason: `its program ended: ${how}` }),
  )
}

/** Its terminal is gone, and nobody said that it is done. */
export async function sayClosed({ watch, transcript }: Live, { at, why }: { at: number; why: string }) {
  await transcript.settled()
  await watch.end(draftOf(watch.root, 'session.failed', { reason: why }))
  await watch.take([{ kind: 'exited', source: 'process', at }])
}

/** It was recorded, and the daemon ended before its start was. */
export async function sayUnmade({ watch }: Live): Promise<void> {
  await watch.end(
    draftOf(watch.root, 'session.failed', {
      reason: 'spawn failed',
      error: 'Muster was stopped while it was being started; spawn it again',
    }),
  )
}
