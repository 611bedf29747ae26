import type { SessionState } from './state.ts'

/** How the program of a session can be started again. */
export type WayBack =
  | { readonly kind: 'resume'; readonly foreignId: string }
  /** Nothing of it ever ran: it is started as the first time, with the prompt that still waits in the vault. */
  | { readonly kind: 'anew'; readonly prompt?: string }
  | { readonly kind: 'none'; readonly why: string }

/** No prompt is given a second time unless it is certain that it never ran. */
export function wayBack(
  { managed, queue }: Pick<Readonly<SessionState>, 'managed' | 'queue'>,
  mayHaveRun: boolean,
): WayBack {
  if (!managed || managed.cli === 'custom')
    return {
      kind: 'none',
      why: 'its program has no conversation to go on with; start another with: sm spawn',
    }
  if (mayHaveRun)
    return managed.foreignId === undefined
      ? {
          kind: 'none',
          why: 'its conversation is not known, and its prompt may have run; look into its folder, then: sm spawn',
        }
      : { kind: 'resume', foreignId: managed.foreignId }
  const waiting = queue?.find(({ by }) => by === 'launch')
  if (managed.hasPrompt && !waiting)
    return { kind: 'none', why: 'its prompt was taken, and its record is not there any more; see: sm spawn' }
  return { kind: 'anew', ...(waiting?.vault !== undefined && { prompt: waiting.vault }) }
}
