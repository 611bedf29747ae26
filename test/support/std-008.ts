import { readFileSync } from 'node:fs'
import type { AgentSession, ToolCall } from '../../src/contract/session-file/agent-session.ts'
import type { ValidationResult } from '../../src/contract/session-file/issue.ts'
import type { MultiAgentSession } from '../../src/contract/session-file/multi-agent-session.ts'

const golden = new URL('../golden/std-008/', import.meta.url)

/** The text of a golden session file. */
export const goldenText = (name: string): string => readFileSync(new URL(name, golden), 'utf8')

/** The name of the standard's own minimal example. */
export const exampleName = '2026-01-26-001-implement-feature-multi.json'

/** The standard's own minimal example, fresh for every caller. */
export const example = (): MultiAgentSession => JSON.parse(goldenText(exampleName)) as MultiAgentSession

/** A call that lasts one second, some seconds after ten o'clock. */
export function call(call_id: string, tool_name: string, second: number): ToolCall {
  const at = (s: number) =>
    `2026-01-26T10:${String(Math.floor(s / 60)).padStart(2, '0')}:${String(s % 60).padStart(2, '0')}Z`
  return {
    call_id,
    tool_name,
    tool_category: tool_name === 'Task' ? 'interaction' : 'perception',
    started_at: at(second),
    ended_at: at(second + 1),
    duration_ms: 1000,
    input: { params: {} },
    output: { status: 'success' },
  }
}

/** A single-agent session with two calls. */
export const single = (): AgentSession => ({
  session_id: '2026-01-26-002-read-files',
  task_title: 'Read files',
  user_prompt: 'read the files',
  created_at: '2026-01-26T10:00:00Z',
  completed_at: '2026-01-26T10:01:00Z',
  status: 'success',
  agent: { model_id: 'model-1' },
  tool_calls: [call('tool-001', 'Read', 1), call('tool-002', 'Grep', 5)],
  summary: { total_duration_ms: 60_000, tool_calls_count: 2, files_created: [], files_modified: [] },
})

/** What a validation found, as `code path`. */
export const codes = (issues: ValidationResult['errors']): string[] =>
  issues.map((issue) => `${issue.code} ${issue.path}`)
