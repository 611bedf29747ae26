import type { Signal } from '../../contract/signal.ts'
import type { Managed } from './managed.ts'

/** What a CLI says of itself and was not known: its conversation, its record, its model, its version. */
export function newsOf(signal: Signal, managed: Managed | undefined) {
  if (signal.kind !== 'ready' || signal.agent !== undefined || !managed) return undefined
  const { foreignId, transcript, model, version } = signal
  const news = {
    ...(foreignId && foreignId !== managed.foreignId && { foreignId }),
    ...(transcript && transcript !== managed.transcript && { transcript }),
    ...(model && model !== managed.model && { model }),
    ...(version && version !== managed.cliVersion && { cliVersion: version }),
  }
  return Object.keys(news).length === 0 ? undefined : news
}
