import { AppError } from '../../contract/errors.ts'
import type { Vault } from '../../ports/vault.ts'
import type { FlowRecord, LocalDeps } from './local-durable.ts'

/** What a workflow was begun with, by the name under which the vault keeps it. */
export async function inputOf(vault: Vault, name: string | undefined): Promise<unknown> {
  const bytes = name === undefined ? undefined : await vault.get(name).catch(() => undefined)
  if (!bytes)
    throw new AppError('conflict', 'what it was begun with is no longer in the vault; begin it anew')
  return (JSON.parse(new TextDecoder().decode(bytes)) as { input?: unknown }).input
}

/** The same of one that is recorded. */
export async function begunWith(
  { events, vault }: Pick<LocalDeps, 'events' | 'vault'>,
  { id, sessionId }: FlowRecord,
): Promise<unknown> {
  for await (const event of events(sessionId, ['workflow.started']))
    if (event.type === 'workflow.started' && event.workflowId === id)
      return inputOf(vault, event.payload.vault)
  throw new Error(`the beginning of ${id} is not in the journal`)
}
