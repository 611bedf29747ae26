import type { Client } from '../../client/client.ts'
import type { Io } from '../io.ts'
import { renderApprovals } from '../render/approvals.ts'
import { painter } from '../render/paint.ts'
import { oneLine } from '../render/safe-text.ts'
import { cut } from '../render/text-width.ts'
import type { ToolCall } from './heard.ts'
import { toolRow } from './tool-row.ts'

type Parts = { readonly client: Client; readonly io: Io; readonly sessionId: string }

/** What is told beside an answer, on the error stream: calls and status to somebody at a terminal, questions to everybody. */
export type Aside = {
  row(call: ToolCall, by: string | undefined): void
  status(text: string): void
  clear(): void
  lost(message: string): void
  /** Something is asked, or was decided: what is new and waits is told, with the way to answer it. */
  asked(): Promise<void>
}

export function openAside({ client, io, sessionId }: Parts): Aside {
  const { stderr } = process
  const isSeen = stderr.isTTY && !io.isJson
  const paint = painter(isSeen && !io.env['NO_COLOR'] && io.env['TERM'] !== 'dumb')
  const told = new Set<string>()
  const width = () => (stderr.columns || 80) - 1
  let isShown = false
  return {
    row(call, by) {
      if (isSeen) io.say(paint('dim', toolRow({ ...call, by }, { width: width(), paint: (_, text) => text })))
    },
    status(text) {
      if (!isSeen) return
      isShown = true
      // What wraps cannot be taken back: each line that a command prints would leave a row.
      io.progress(paint('dim', cut(`… ${oneLine(text)}`, width())))
    },
    clear() {
      if (isShown) io.progress('')
    },
    lost: (message) => io.say(`${message}; trying again`),
    async asked() {
      const { approvals } = await client.listApprovals({ session: sessionId }, { signal: io.signal })
      const fresh = approvals.filter(({ approval_id }) => !told.has(approval_id))
      for (const { approval_id } of fresh) told.add(approval_id)
      const view = { width: width(), now: io.now(), color: false }
      if (fresh.length > 0) io.say(renderApprovals({ approvals: fresh }, view))
    },
  }
}
