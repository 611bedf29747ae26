import * as z from 'zod'
import type { CheckRun } from '../../contract/collaboration/crew-report.ts'
import { schemaProblems } from '../../contract/config/schema-problems.ts'
import { type Foreign, isForeign } from '../../contract/formats/foreign-json.ts'
import { DeveloperInput, ReviewerInput, type ReviewFinding } from '../../contract/session-file/outputs.ts'
import { scopeProblem } from './globs.ts'
import { scriptTask } from './prompt-parts.ts'
import { type FoundObject, jsonObjects, type ReplyResult, withoutNulls } from './read-reply.ts'
import type { RequiredCheck } from './required-checks.ts'
import { developerPrompt, reviewerPrompt } from './work-prompts.ts'

/** A JSON Schema that an answer is held to. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** What one agent is given by another, and by that the form of its answer. */
export type Assignment =
  | { readonly kind: 'developer'; readonly taskId: string; readonly input: z.infer<typeof DeveloperInput> }
  | { readonly kind: 'reviewer'; readonly taskId: string; readonly input: z.infer<typeof ReviewerInput> }
  | { readonly kind: 'text'; readonly taskId: string; readonly prompt: string }
  | {
      readonly kind: 'schema'
      readonly taskId: string
      readonly prompt: string
      readonly schema: JsonSchema
    }

type To = {
  /** The agent that gets it: where both inputs are there, a reviewer's counts for a reviewer. */
  readonly role: string
  /** The name of a task that has none of its own. */
  readonly taskId: string
  /** What its answer has to fit, where whoever asks says so. */
  readonly schema?: JsonSchema | undefined
}

/**
 * What is handed over, in any of its forms. Words with a DeveloperInput or a ReviewerInput in them are one, and so is
 * an object; other words are text. An input that is broken is refused: work whose scope was misread has none.
 */
export function readAssignment(given: unknown, to: To): ReplyResult<Assignment> {
  if (typeof given !== 'string') return readInput(given, to)
  const found = jsonObjects(given)
  const cut = found.find((one) => 'problem' in one && isMeantAsInput(given, one.at, found))
  if (cut && 'problem' in cut) return { problems: [`the input cannot be read: ${cut.problem}`] }
  const inputs = found.flatMap((one) => ('value' in one ? [unwrapped(one.value)] : [])).filter(isInput)
  const meant = inputs.filter((value) => kindOf(value) === preferred(inputs, to))
  const [first, ...others] = [...new Map(meant.map((value) => [JSON.stringify(value), value])).values()]
  if (others.length > 0)
    return { problems: [`there are ${others.length + 1} inputs in it; give each task in a call of its own`] }
  if (first !== undefined) return readInput(first, to)
  if (given.trim() === '') return { problems: ['there is nothing in it; say what is to be done'] }
  const { taskId, schema } = to
  return {
    value: schema
      ? { kind: 'schema', taskId, prompt: given, schema }
      : { kind: 'text', taskId, prompt: given },
  }
}

type InputKind = 'developer' | 'reviewer'

/** By which fields an input is known, also one that lacks others: as it is read, and as it is written. */
const signs: readonly {
  readonly kind: InputKind
  readonly written: RegExp
  readonly isIn: (value: Foreign) => boolean
}[] = [
  {
    kind: 'developer',
    written: /"task_description"\s*:|"constraints"\s*:/,
    isIn: (value) => has(value, 'task_description') || (has(value, 'task_id') && has(value, 'constraints')),
  },
  {
    kind: 'reviewer',
    written: /"review_scope"\s*:|"review_id"\s*:[^]*"criteria"\s*:/,
    isIn: (value) =>
      has(value, 'review_scope') ||
      ((has(value, 'review_id') || has(value, 'task_id')) && (has(value, 'criteria') || has(value, 'files'))),
  },
]

const has = (value: Foreign, key: string): boolean => Object.hasOwn(value, key)

const kindOf = (value: unknown): InputKind | undefined =>
  isForeign(value) ? signs.find(({ isIn }) => isIn(value))?.kind : undefined

const isInput = (value: unknown): boolean => kindOf(value) !== undefined

/** Whether what is broken was to be an input: it has a sign of one, up to where a whole input begins. */
function isMeantAsInput(text: string, at: number, found: readonly FoundObject[]): boolean {
  const next = found.find((one) => one.at > at && 'value' in one && isInput(unwrapped(one.value)))
  const words = text.slice(at, next?.at)
  return signs.some(({ written }) => written.test(words))
}

/** A reviewer may be shown the task that it reviews, and a developer the review of what it did. */
function preferred(inputs: readonly unknown[], { role }: To): InputKind | undefined {
  const kinds = inputs.map(kindOf)
  const own: InputKind = role.toLowerCase() === 'reviewer' ? 'reviewer' : 'developer'
  return kinds.includes(own) ? own : kinds[0]
}

/** A task_assignment has the input in `task`; a call of a tool has it in `input`. */
function unwrapped(value: unknown): unknown {
  if (!isForeign(value) || isInput(value)) return value
  return [value['task'], value['input']].find(isInput) ?? value
}

function readInput(given: unknown, { role }: To): ReplyResult<Assignment> {
  const value = withoutNulls(unwrapped(given))
  if (!isForeign(value))
    return { problems: ['expected words, a DeveloperInput or a ReviewerInput; it is none of them'] }
  const kind = kindOf(value) ?? (role.toLowerCase() === 'reviewer' ? 'reviewer' : 'developer')
  return kind === 'developer' ? readDeveloperInput(value) : readReviewerInput(value)
}

function readDeveloperInput(value: Foreign): ReplyResult<Assignment> {
  const read = parsed(DeveloperInput, value)
  if ('problems' in read) return read
  const input = read.value
  const scope = input.constraints?.scope
  const problems = [
    ...nameProblems('task_id', input.task_id),
    ...(input.task_description.trim() === '' ? ['task_description: say what is to be done'] : []),
    ...(scope?.length === 0
      ? ['constraints.scope: it names nothing; list what may be changed, or leave it out']
      : []),
    ...(scope ?? []).flatMap((glob, i) => {
      const problem = scopeProblem(glob)
      return problem === undefined ? [] : [`constraints.scope.${i}: ${problem}`]
    }),
  ]
  return problems.length > 0 ? { problems } : { value: { kind: 'developer', taskId: input.task_id, input } }
}

function readReviewerInput(value: Foreign): ReplyResult<Assignment> {
  const read = parsed(ReviewerInput, value)
  if ('problems' in read) return read
  const { files, scope, review_scope, ...rest } = read.value
  const looked = review_scope ?? scope ?? (files && { files })
  const input = { ...rest, ...(looked && { review_scope: looked }) }
  const problems = [
    ...nameProblems('task_id', input.task_id),
    ...(input.review_id === undefined ? [] : nameProblems('review_id', input.review_id)),
  ]
  // A review is a task of its own, apart from the one that it judges.
  const taskId = input.review_id ?? `review-${input.task_id}`
  return problems.length > 0 ? { problems } : { value: { kind: 'reviewer', taskId, input } }
}

const longestName = 200

/** Names stand in lines, in files and in other names. */
const nameProblems = (field: string, name: string): string[] =>
  name.trim() !== '' && name.length <= longestName && !/[\n\r]/.test(name)
    ? []
    : [`${field}: expected a name of one line, at most ${longestName} characters`]

const mostProblems = 20

function parsed<T>(schema: z.ZodObject & z.ZodType<T>, value: Foreign): ReplyResult<T> {
  const read = schema.safeParse(value, { reportInput: true })
  if (read.success) return { value: read.data }
  const known = { beside: (path: readonly PropertyKey[]) => fieldsAt(schema, path), all: () => [] }
  const problems = schemaProblems(read.error.issues, known).map(
    ({ path, message }) => `${path.map(String).join('.') || 'the input'}: ${message}`,
  )
  return { problems: problems.slice(0, mostProblems) }
}

/** The fields that a record may have where another was found, so that a misspelt one is told what it means. */
function fieldsAt(schema: unknown, path: readonly PropertyKey[]): string[] {
  const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema
  if (!(inner instanceof z.ZodObject)) return []
  const [next, ...rest] = path
  return next === undefined ? Object.keys(inner.shape) : fieldsAt(inner.shape[String(next)], rest)
}

/** What may be changed for it, where it says so. */
export const scopeOf = (assignment: Assignment): readonly string[] | undefined =>
  assignment.kind === 'developer' ? assignment.input.constraints?.scope : undefined

/** Work with an input, which has a place among the messages of the protocol. */
export type InputAssignment = Extract<Assignment, { readonly input: unknown }>

/** The same work under the name that it gets of the one that it would have. */
export function withTaskId(assignment: InputAssignment, name: (wanted: string) => string): InputAssignment {
  const taskId = name(assignment.taskId)
  return assignment.kind === 'developer'
    ? { ...assignment, taskId, input: { ...assignment.input, task_id: taskId } }
    : { ...assignment, taskId, input: { ...assignment.input, review_id: taskId } }
}

/** What is known around it, of which its prompt says what its reader needs. */
export type Surroundings = {
  /** Commands that the whole work will be checked with. */
  readonly checks?: readonly RequiredCheck[]
  /** The work that is judged: what ran on it, what changed, and since when. */
  readonly review?: {
    readonly ran: readonly CheckRun[]
    readonly stat: string
    readonly base: string
    readonly earlier: readonly ReviewFinding[]
  }
}

/** The words by which an agent gets it. */
export function assignmentPrompt(assignment: Assignment, { checks = [], review }: Surroundings = {}): string {
  switch (assignment.kind) {
    case 'developer':
      return developerPrompt({ input: assignment.input, checks })
    case 'reviewer': {
      const { ran = [], stat = '', base = 'HEAD', earlier = [] } = review ?? {}
      return reviewerPrompt({ input: assignment.input, stat, base, checks: ran, earlier })
    }
    case 'text':
      return assignment.prompt
    case 'schema':
      return scriptTask(assignment.prompt, assignment.schema)
    default:
      return assignment satisfies never
  }
}
