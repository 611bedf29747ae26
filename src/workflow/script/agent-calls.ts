import * as z from 'zod'
import { AppError } from '../../contract/errors.ts'
import type { ScriptCall, ScriptMeta } from '../../contract/script.ts'
import { ClaimVerdict } from '../../contract/values.ts'
import { type Assignment, assignmentPrompt, readAssignment } from '../../core/delegation/assignment.ts'
import { type Allowed, allowedWork } from '../../core/delegation/gate-delegation.ts'
import { globInside } from '../../core/delegation/globs.ts'
import { refutePrompt } from '../../core/delegation/prompt-parts.ts'
import { readReply } from '../../core/delegation/read-reply.ts'
import { contractOf, type ReplyContract } from '../../core/delegation/reply-contract.ts'
import { asObject } from '../../core/delegation/schema-reply.ts'

type Call<K extends ScriptCall['kind']> = Extract<ScriptCall, { kind: K }>

/** What an agent is asked by a call of a script: read, gated, and in its words. */
export type Asked = {
  readonly agent: string
  readonly name: string
  readonly cli?: string | undefined
  readonly model?: string | undefined
  readonly assignment: Assignment
  readonly allowed: Allowed
  readonly contract?: ReplyContract
  readonly prompt: string
  readonly about?: string
}

/** What of a script limits its agents. */
type Limits = Pick<ScriptMeta, 'writes' | 'tools'>

const usualAgent = 'general-purpose'
/** No path of a project is this: nothing may be changed. */
const nowhere = [':nothing:']

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

/** What to ask for a call of `agent`; an input that is broken or may not be carried out is refused. */
export function agentAsked({ task, options, path }: Call<'agent'>, limits: Limits): Asked {
  const { schema, agent = usualAgent, name, cli, model, scope, timeoutMs } = options
  const read = schema
    ? { value: { kind: 'schema', taskId: path, prompt: task, schema: asObject(schema) } as const }
    : readAssignment(task, { role: agent, taskId: path })
  if ('problems' in read)
    throw new AppError('invalid', `its task cannot be used: ${read.problems.join('; ')}`)
  const assignment = read.value
  return {
    agent,
    name: name === undefined ? path : `${name} (${path})`,
    cli,
    model,
    assignment,
    allowed: allowed(assignment, { ...limits, scope, timeoutMs }),
    // Words around an input say what it is for.
    prompt: 'input' in assignment ? task : assignmentPrompt(assignment),
    ...(schema && { contract: contractOf({ kind: 'schema', taskId: path, prompt: task, schema }) }),
  }
}

/** What to ask for one vote on a claim. */
export function voteAsked({ claim, options, path }: Call<'verify'>, limits: Limits): Asked {
  const { agent = usualAgent, cli, model } = options
  const assignment: Assignment = {
    kind: 'schema',
    taskId: path,
    prompt: refutePrompt(claim),
    schema: voteSchema,
  }
  return {
    agent,
    name: path,
    cli,
    model,
    assignment,
    allowed: allowed(assignment, { tools: limits.tools, writes: [] }),
    contract: { ...contractOf(assignment), read: (text) => readReply(text, { schema: Vote }) },
    prompt: assignmentPrompt(assignment),
    about: `Try to refute: ${claim.text}`,
  }
}

type Wanted = {
  readonly writes?: readonly string[] | undefined
  readonly tools?: readonly string[] | undefined
  readonly scope?: readonly string[] | undefined
  readonly timeoutMs?: number | undefined
}

/** What an agent may change is part of what was approved. */
function allowed(assignment: Assignment, { writes = [], tools, scope, timeoutMs }: Wanted): Allowed {
  const outside = scope?.find((glob) => !writes.some((one) => globInside(glob, one)))
  if (outside !== undefined)
    throw new AppError(
      'denied',
      `${outside} is not among what this workflow may change (${writes.join(', ') || 'nothing'}); add it to writes in meta`,
    )
  const given = scope ?? writes
  const scopes = [given.length > 0 ? given : nowhere]
  const gated = allowedWork({ name: 'the workflow', scopes }, assignment, { tools, timeoutMs })
  if ('gate' in gated) throw new AppError('denied', gated.reason)
  return gated
}
