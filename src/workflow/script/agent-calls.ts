import * as z from 'zod'
import { AppError } from '../../contract/errors.ts'
import type { ScriptCall } from '../../contract/script.ts'
import { sha256Hex } from '../../contract/sha256.ts'
import { ClaimVerdict } from '../../contract/values.ts'
import { matchesGlob } from '../../core/delegation/globs.ts'
import { refutePrompt, scriptTask } from '../../core/delegation/prompt-parts.ts'
import { lastJsonObject, type ReplyResult, readReply } from '../../core/delegation/read-reply.ts'

type Call<K extends ScriptCall['kind']> = Extract<ScriptCall, { kind: K }>

/** What an agent is asked by a call of a script, and how its words are read. */
export type Asked = {
  readonly agent: string
  readonly name: string
  readonly cli?: string | undefined
  readonly model?: string | undefined
  readonly prompt: string
  readonly scope: readonly string[]
  readonly timeoutMs: number
  readonly resultSchema: string
  readonly read: (text: string) => ReplyResult<unknown>
}

const usualMs = 30 * 60_000
const usualAgent = 'general-purpose'
/** No path of a project is this: nothing may be changed. */
const nowhere = ':nothing:'

const Vote = z.object({ verdict: ClaimVerdict, evidence: z.unknown() })
const voteSchema = {
  title: 'vote',
  type: 'object',
  properties: {
    verdict: { enum: ['supported', 'refuted', 'inconclusive'] },
    evidence: { type: 'string' },
  },
  required: ['verdict', 'evidence'],
}

/** What to ask for a call of `agent`. */
export function agentAsked({ task, options, path }: Call<'agent'>, writes: readonly string[]): Asked {
  const { schema, agent = usualAgent, name, cli, model, scope, timeoutMs = usualMs } = options
  return {
    agent,
    name: name === undefined ? path : `${name} (${path})`,
    cli,
    model,
    prompt: scriptTask(task, schema && asObject(schema)),
    scope: scopeOf(scope, writes),
    timeoutMs,
    resultSchema: schemaName(schema),
    read: schema === undefined ? (text) => ({ value: text }) : unwrapped(schema),
  }
}

/** What to ask for one vote on a claim. */
export function voteAsked({ claim, options, path }: Call<'verify'>): Asked {
  const { agent = usualAgent, cli, model } = options
  return {
    agent,
    name: path,
    cli,
    model,
    prompt: scriptTask(refutePrompt(claim), voteSchema),
    scope: [nowhere],
    timeoutMs: usualMs,
    resultSchema: schemaName(voteSchema),
    read: (text) => readReply(text, { schema: Vote }),
  }
}

/** A schema in a word: the same for the same schema, and short enough to stand in every end. */
function schemaName(schema: Record<string, unknown> | undefined): string {
  if (schema === undefined) return 'text'
  const digest = sha256Hex(JSON.stringify(schema)).slice(0, 12)
  const title =
    typeof schema['title'] === 'string' ? schema['title'].replaceAll(/[^\w.-]+/g, '-').slice(0, 64) : ''
  return `schema:${title === '' ? '' : `${title}@`}${digest}`
}

/** Agents end with an object: a value of another kind is asked for in one. */
const asObject = (schema: Record<string, unknown>): Record<string, unknown> =>
  isObject(schema) ? schema : { type: 'object', properties: { value: schema }, required: ['value'] }

const isObject = ({ type, properties }: Record<string, unknown>): boolean =>
  type === 'object' || properties !== undefined

function unwrapped(schema: Record<string, unknown>): (text: string) => ReplyResult<unknown> {
  const read = reading(asObject(schema))
  if (isObject(schema)) return read
  return (text) => {
    const said = read(text)
    return 'value' in said ? { value: (said.value as { value: unknown }).value } : said
  }
}

function reading(schema: Record<string, unknown>): (text: string) => ReplyResult<unknown> {
  const made = zodOf(schema)
  return (text) => {
    const last = lastJsonObject(text)
    const exact = 'value' in last && last.broken === undefined ? made.safeParse(last.value) : undefined
    return exact?.success ? { value: exact.data } : readReply(text, { schema: made })
  }
}

function zodOf(schema: Record<string, unknown>): z.ZodType {
  try {
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0])
  } catch (error) {
    throw new AppError('invalid', `schema: ${(error as Error).message}`)
  }
}

/** What an agent may change is part of what was approved. */
function scopeOf(scope: readonly string[] | undefined, writes: readonly string[]): readonly string[] {
  const outside = scope?.find((glob) => !writes.some((allowed) => isInside(glob, allowed)))
  if (outside !== undefined)
    throw new AppError(
      'denied',
      `${outside} is not among what this workflow may change (${writes.join(', ') || 'nothing'}); add it to writes in meta`,
    )
  const given = scope ?? writes
  return given.length > 0 ? given : [nowhere]
}

/** A glob is inside another only where that can be told for certain. */
function isInside(glob: string, allowed: string): boolean {
  if (glob === allowed) return true
  if (glob.split('/').includes('..') || /[[\]{}]/.test(glob)) return false
  if (!/[*?]/.test(glob)) return matchesGlob(glob, allowed)
  const folder = /^([^*?[{]+\/)\*\*$/.exec(allowed)?.[1]
  return allowed === '**' || (folder !== undefined && glob.startsWith(folder))
}
