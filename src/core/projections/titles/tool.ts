import type { toolEvents } from '../../../contract/events/tool.ts'
import { subjectOf } from '../../../contract/tool-subject.ts'
import type { Titles } from '../title.ts'

/** Titles of tool calls, model calls, patches, checks and budgets. */
export const toolTitles: Titles<keyof typeof toolEvents> = {
  'tool.call.started': ({ payload: p }) => [p.tool, p.rawCommand ?? subjectOf(p.params) ?? p.description],
  'tool.call.completed': ({ payload: p }) => [p.tool],
  'tool.call.failed': ({ payload: p }) => [p.tool, p.reason ?? p.error],
  'tool.call.denied': ({ payload: p }) => [p.tool, p.gate, p.reason],
  'llm.request.started': ({ payload: p }) => [p.model],
  'llm.request.completed': ({ payload: p }) => [p.model, p.finishReason],
  'llm.request.failed': ({ payload: p }) => [p.model, p.error],
  'llm.usage.corrected': ({ payload: p }) => [p.model, p.source],
  'patch.created': ({ payload: p }) => [...p.files.slice(0, 5).map((file) => file.path), p.commit],
  'test.passed': ({ payload: p }) => [p.command, p.passed],
  'test.failed': ({ payload: p }) => [p.command, p.failed],
  'budget.warning': ({ payload: p }) => [p.budget, `${p.used} of ${p.limit}`, p.scope],
  'budget.exceeded': ({ payload: p }) => [p.budget, `${p.used} of ${p.limit}`, p.scope],
}
