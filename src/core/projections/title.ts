import type { AgentEvent, EventOf, EventType } from '../../contract/event.ts'
import { headOf, oneLine } from './text.ts'
import { agentTitles } from './titles/agent.ts'
import { messageTitles } from './titles/message.ts'
import { sessionTitles } from './titles/session.ts'
import { toolTitles } from './titles/tool.ts'
import { workflowTitles } from './titles/workflow.ts'

/** Parts of a title; what is not there is left out. */
export type TitleParts = readonly unknown[]
/** A title for every event of a family. */
export type Titles<T extends EventType> = { readonly [K in T]: (event: EventOf<K>) => TitleParts }

const titles: Titles<EventType> = {
  ...sessionTitles,
  ...agentTitles,
  ...toolTitles,
  ...messageTitles,
  ...workflowTitles,
}

/** An event in at most 200 characters, for lists. Bodies give their beginning, blobs their preview. */
export function titleOf(event: AgentEvent): string | undefined {
  // A journal written by a newer version has types that this one cannot name.
  const make = titles[event.type] as ((event: AgentEvent) => TitleParts) | undefined
  if (make === undefined) return undefined
  let text = ''
  for (const part of make(event)) {
    const said = headOf(part, 400)
    if (said !== '') text = text === '' ? said : `${text} ${said}`
  }
  return oneLine(text)
}
