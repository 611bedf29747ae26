import type { Client } from '../../client/client.ts'
import type { Heard, Outcome } from './heard.ts'

/** What is said, to whom, and when it may be taken up. */
export type Saying = {
  readonly cwd: string
  readonly sessionId: string
  readonly agent: string
  readonly text: string
  /** Hears under which id it waits. */
  readonly onSaid: (messageId: string) => void
}

/** How the run that took a message came to its end. */
export type Ending = Omit<Outcome, 'status'> & { readonly status: 'completed' | 'failed' | 'cancelled' }

/** Says something and passes on what is heard, with no receipts but its own, until the run that took it has ended; nothing when the ear was closed before. */
export async function* exchange(
  client: Client,
  ear: AsyncGenerator<Heard>,
  { saying, signal }: { readonly saying: Saying; readonly signal: AbortSignal },
): AsyncGenerator<Heard, Ending | undefined> {
  const { cwd, sessionId, agent, text } = saying
  const said = await client.chat(
    { project_root: cwd, session_id: sessionId, agent_id: agent, message: text },
    { signal },
  )
  if (said.status === 'mode_set') return { status: 'completed' }
  saying.onSaid(said.message_id ?? '')
  let runId: string | undefined
  for (let read = await ear.next(); !read.done; read = await ear.next()) {
    const heard = read.value
    if (heard.kind === 'taken') {
      if (heard.messageId !== said.message_id) continue
      runId = heard.runId
    }
    if (heard.kind === 'refused' && heard.messageId === said.message_id) {
      const { detail } = await client.getMessage({ message: heard.messageId }, { signal })
      return { status: 'failed', detail: detail ?? 'it was not taken up' }
    }
    if (heard.kind === 'closed') return { status: 'cancelled', detail: 'the session was ended' }
    yield heard
    if (heard.kind === 'ended' && heard.runId === runId)
      return { ...heard.outcome, status: statusOf(heard.outcome.status) }
  }
  return undefined
}

const statusOf = (status: string): Ending['status'] =>
  status === 'completed' || status === 'failed' ? status : status === 'abandoned' ? 'failed' : 'cancelled'
