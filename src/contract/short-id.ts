import type { RunId, SessionId } from './ids.ts'

export type { SessionId }

/** Eight hex digits people see in names, tmux and `sm`; made from the long id, so nothing has to store it. */
export function shortId(id: SessionId | RunId): string {
  // FNV-1a over the whole id: the time half alone would give siblings spawned together the same prefix.
  let hash = 0x811c9dc5
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}
