import * as z from 'zod'
import { AppError } from '../../contract/errors.ts'
import type { ScriptCall } from '../../contract/script.ts'
import { ClaimVerdict } from '../../contract/values.ts'
import { globInside } from '../../core/delegation/globs.ts'
import { refutePrompt, scriptTask } from '../../core/delegation/prompt-parts.ts'
import { type ReplyResult, readReply } from '../../core/delegation/read-reply.ts'
import { asObject, readSchemaReply, schemaName } from '../../core/delegation/schema-reply.ts'

type Call<K extends ScriptCall['kind']> = Extract<ScriptCall, { kind: K }>

/** What an agent is asked by a call of a script, and how its words are read. */
export type Asked = {
  readonly agent: string
  readonly name: string
  readonly cli?: string | undefined
  readonly model?: string | undefined
  readonly prompt: string
  readonly scopes: readonly (readonly string[])[]
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
    scopes: [scopeOf(scope, writes)],
    timeoutMs,
    resultSchema: schema === undefined ? 'text' : schemaName(schema),
    read: schema === undefined ? (text) => ({ value: text }) : readSchemaReply(schema),
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
    scopes: [[nowhere]],
    timeoutMs: usualMs,
    resultSchema: schemaName(voteSchema),
    read: (text) => readReply(text, { schema: Vote }),
  }
}

/** What an agent may change is part of what was approved. */
function scopeOf(scope: readonly string[] | undefined, writes: readonly string[]): readonly string[] {
  const outside = scope?.find((glob) => !writes.some((allowed) => globInside(glob, allowed)))
  if (outside !== undefined)
    throw new AppError(
      'denied',
      `${outside} is not among what this workflow may change (${writes.join(', ') || 'nothing'}); add it to writes in meta`,
    )
  const given = scope ?? writes
  return given.length > 0 ? given : [nowhere]
}
