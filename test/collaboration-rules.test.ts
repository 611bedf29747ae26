import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { MessageType } from '../src/contract/events/message.ts'
import { PhaseType, ToolCall } from '../src/contract/session-file/agent-session.ts'
import { AgentMessage } from '../src/contract/session-file/multi-agent-session.ts'
import { ToolCategory } from '../src/contract/values.ts'

const rules = readFileSync(join(import.meta.dirname, '../SPEC.md'), 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, id, rule] = /^\| ([A-Z]+-\d+) \| (.*) \| (?:done|open) \|$/.exec(line) ?? []
    // The rule that says so cannot be what it speaks of.
    return id === undefined || id === 'COL-76' ? [] : [{ id, rule: rule ?? '' }]
  })

/** The ids of the rules that speak of all these words. */
const about = (...words: readonly (string | RegExp)[]): string[] =>
  rules.filter(({ rule }) => words.every((word) => new RegExp(word, 'i').test(rule))).map(({ id }) => id)

/** What a file writes of its own; what a reader keeps of a foreign one has its rules elsewhere. */
const fieldsOf = (shape: object): string[] =>
  Object.keys(shape).filter((field) => !field.startsWith('original_') && field !== 'open')

const execution: readonly (readonly (string | RegExp)[])[] = [
  ['tool call', 'unit of work'],
  ...fieldsOf(ToolCall.shape).map((field) => [field === 'subagent_info' ? 'SubagentInfo' : field]),
  ...ToolCategory.options.map((word) => ['tool_category', word]),
  ...PhaseType.options.map((word) => ['phase_type', word]),
  ['automatic groups|grouped by category'],
  ['side by side|in parallel'],
]
const protocol: readonly (readonly (string | RegExp)[])[] = [
  ...fieldsOf(AgentMessage.shape).map((field) => [field]),
  ...MessageType.options.map((word) => [word, 'payload']),
  ['messages of one task', 'assignment, acknowledgment, progress, completion'],
  ['every 30 seconds'],
  ['hard dependencies', 'soft'],
  ['task error names its kind', 'timeout', 'scope violation', 'resource limit', 'exception'],
  ['approved verdict', 'critical or major'],
  ['iteration limit', 'human_review', 'abort', 'force_approve'],
]
const views: readonly (readonly (string | RegExp)[])[] = [
  ['swimlane', 'lane per agent', 'node per call'],
  ['arrows', 'delegation', 'completion'],
  ['agent card', 'calls', 'duration'],
  ['detail of a Task call', 'input', 'output', 'sub-session'],
  ['swimlane', 'lanes of 60 px', 'shape and colour by category', 'detail panel'],
  ['messages tab', 'filters by type', 'searches'],
  ['by keyboard', 'arrows'],
  ['1600, 1200, 900'],
]

test.each([
  ['the execution model', execution],
  ['the message protocol', protocol],
  ['the views', views],
])('[COL-76] each thing of %s that collaboration builds on has a rule', (_, things) => {
  expect(things.filter((words) => about(...words).length === 0)).toEqual([])
})
