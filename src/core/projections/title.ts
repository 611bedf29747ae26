import { type AgentEvent, catalogue } from '../../contract/event.ts'
import { headOf, oneLine } from './row-text.ts'

/** An event in at most 200 characters, for lists. Bodies give their beginning, blobs their preview. */
export function titleOf(event: AgentEvent): string | undefined {
  // A journal written by a newer version has types that this one cannot name.
  const title = catalogue[event.type]?.title as ((event: AgentEvent) => readonly unknown[]) | undefined
  if (title === undefined) return undefined
  let text = ''
  for (const part of title(event)) {
    const said = headOf(part, 400)
    if (said !== '') text = text === '' ? said : `${text} ${said}`
  }
  return oneLine(text)
}
