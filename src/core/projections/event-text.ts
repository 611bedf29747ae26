import { type AgentEvent, catalogue } from '../../contract/event.ts'
import type { SearchText } from '../../contract/row-op.ts'
import { filesOf } from '../../contract/tool-subject.ts'
import { type Handlers, handle } from './event-handlers.ts'
import { clip, headOf, oneLine, plainText } from './row-text.ts'
import { endStatus } from './span-rows.ts'

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

/** Characters of one event that can be found: as much as a preview holds, whatever lies in a blob or the vault. */
export const searchLimit = 2048

/** What of an event a person may look for; undefined when it says nothing in words. */
export function searchText(event: AgentEvent): SearchText | undefined {
  // A journal written by a newer version has types that this one cannot read.
  const words = catalogue[event.type]?.search as ((event: AgentEvent) => unknown) | undefined
  if (words === undefined) return undefined
  const title = titleOf(event) ?? ''
  const body = clip(plainText(words(event), searchLimit), searchLimit)
  if (title === '' && body === '') return undefined
  return { title, body, ...facets(event) }
}

function facets(event: AgentEvent): Pick<SearchText, 'tool' | 'files' | 'status'> {
  const { tool } = event.payload as { tool?: unknown }
  const files = handle(fileLists, event, 0) ?? []
  const status = handle(outcomes, event, 0)
  return {
    ...(typeof tool === 'string' && { tool }),
    ...(files.length > 0 && { files: files.slice(0, 50).join(' ').slice(0, searchLimit) }),
    ...(status !== undefined && { status }),
  }
}

const fileLists: Handlers<string[]> = {
  'tool.call.started': ({ payload }) => filesOf(payload.params),
  'patch.created': ({ payload }) => payload.files.map((file) => file.path),
  'verifier.issue.found': ({ payload }) => (payload.file === undefined ? [] : [payload.file]),
  'result.summary': ({ payload }) => [...(payload.filesCreated ?? []), ...(payload.filesModified ?? [])],
}

const ended = (event: AgentEvent): string => endStatus(event)
const outcomes: Handlers<string> = {
  'session.completed': ended,
  'session.failed': ended,
  'agent.completed': ended,
  'agent.failed': ended,
  'agent.cancelled': ended,
  'agent.killed': ended,
  'agent.abandoned': ended,
  'task.completed': ended,
  'task.failed': ended,
  'task.cancelled': ended,
  'tool.call.completed': ended,
  'tool.call.failed': ended,
  'tool.call.denied': ended,
  'llm.request.failed': ended,
  'message.failed': ended,
  'approval.granted': ended,
  'approval.rejected': ended,
  'approval.expired': ended,
  'workflow.finalized': ended,
  'workflow.failed': ended,
  'test.passed': () => 'ok',
  'test.failed': () => 'error',
}
