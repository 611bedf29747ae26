import { narrowTools } from './allowed-tools.ts'
import { type Assignment, scopeOf } from './assignment.ts'
import { type Caller, type Denial, type GatedAgent, gateCall } from './gate-call.ts'
import { globsOverlap } from './globs.ts'

/** Work that one agent wants to give to another. */
export type DelegationRequest = {
  /** Who gives it, and how much time that one has left itself. */
  readonly from: Caller & { readonly leftMs?: number }
  /** The agent that is named; nothing when there is none of that name. */
  readonly to: { readonly name: string; readonly agent: GatedAgent | undefined }
  readonly assignment: Assignment
  /** What is asked for beside the assignment. */
  readonly wanted?: {
    readonly scope?: readonly string[] | undefined
    readonly tools?: readonly string[] | undefined
    readonly timeoutMs?: number | undefined
  }
}

/** What the work may do: never more than whoever gives it, and never more than it was given for. */
export type Allowed = {
  /** A change has to be inside of each of them; none means everything. */
  readonly scopes: readonly (readonly string[])[]
  /** All of its role when left out. */
  readonly tools?: readonly string[]
  readonly timeoutMs: number
}

const minuteMs = 60_000

/** How long work may take when nobody says so, by the form of its answer. */
export const usualTimeMs: Readonly<Record<Assignment['kind'], number>> = {
  developer: 10 * minuteMs,
  reviewer: 5 * minuteMs,
  text: 30 * minuteMs,
  schema: 30 * minuteMs,
}

/** Whether one agent may give work to another, and what the work may do then. The call itself is gated like any other. */
export function gateDelegation({ from, to, assignment, wanted = {} }: DelegationRequest): Denial | Allowed {
  const denied = gateCall(from, { tool: 'Task', target: to })
  if (denied) return denied
  return allowedWork({ ...from, name: from.agent.name }, assignment, {
    ...wanted,
    tools: narrowTools(to.agent?.tools ?? [], wanted.tools),
  })
}

/** Whoever gives work, as far as that limits it. */
type Giver = {
  readonly name: string
  readonly scopes?: readonly (readonly string[])[]
  readonly leftMs?: number
}

/** What work may do, whoever it is for: within the limits of whoever gives it and of its own input. */
export function allowedWork(
  { name, scopes = [], leftMs = Infinity }: Giver,
  assignment: Assignment,
  wanted: NonNullable<DelegationRequest['wanted']>,
): Denial | Allowed {
  if (leftMs <= 0)
    return {
      gate: 'delegation',
      rule: 'time',
      reason: `${name} has no time left for others to work; end with what is there`,
    }
  const own = [wanted.scope, scopeOf(assignment)].filter((scope) => scope !== undefined && scope.length > 0)
  const limits = [...scopes, ...(own as (readonly string[])[])]
  const apart = nothingInCommon(limits.filter((scope) => scope.length > 0))
  if (apart)
    return {
      gate: 'scope',
      rule: 'scope',
      reason: `nothing may be changed by it: no file is in ${apart[0].join(', ')} and in ${apart[1].join(', ')}; give work within both`,
    }
  return {
    scopes: limits,
    ...(wanted.tools && { tools: wanted.tools }),
    timeoutMs: Math.min(wanted.timeoutMs ?? usualTimeMs[assignment.kind], leftMs),
  }
}

/** Two scopes that surely share no file. */
function nothingInCommon(
  scopes: readonly (readonly string[])[],
): readonly [readonly string[], readonly string[]] | undefined {
  for (const [i, one] of scopes.entries())
    for (const other of scopes.slice(i + 1))
      if (!one.some((glob) => other.some((second) => globsOverlap(glob, second)))) return [one, other]
  return undefined
}
