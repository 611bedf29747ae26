import * as z from 'zod'
import { type Assignment, readAssignment } from '../core/delegation/assignment.ts'
import type { Denial, GatedAgent } from '../core/delegation/gate-call.ts'
import { type Allowed, type DelegationRequest, gateDelegation } from '../core/delegation/gate-delegation.ts'

const minuteMs = 60_000

/** What a model says when it calls Task. */
export const TaskInput = z.strictObject({
  description: z.string().max(200).optional(),
  prompt: z.string().min(1),
  subagent_type: z.string().min(1),
  /** Globs that the subagent may change, within what this run may. */
  scope: z.array(z.string().min(1).max(1000)).max(100).optional(),
  /** How long it may take; a developer 10 minutes, a reviewer 5 and others 30 when left out. */
  timeout_minutes: z
    .number()
    .positive()
    .max(24 * 60)
    .optional(),
})

/** A Task call as it is carried out, or why it is not: its words are broken, or it may not be done. */
type GivenTask =
  | { readonly assignment: Assignment; readonly allowed: Allowed }
  | { readonly problems: readonly string[] }
  | { readonly denial: Denial }

type Giving = {
  readonly from: DelegationRequest['from']
  readonly to: GatedAgent | undefined
  readonly input: z.infer<typeof TaskInput>
  /** The name of a task that has none of its own. */
  readonly taskId: string
}

/** Reads what a Task call hands over and gates it; the gate of the call and the call itself see the same. */
export function givenTask({ from, to, input, taskId }: Giving): GivenTask {
  const { prompt, scope, subagent_type, timeout_minutes: minutes } = input
  const read = readAssignment(prompt, { role: to?.name ?? subagent_type, taskId })
  if ('problems' in read) return read
  const assignment = read.value
  const gated = gateDelegation({
    from,
    to: { name: subagent_type, agent: to },
    assignment,
    wanted: { scope, timeoutMs: minutes === undefined ? undefined : minutes * minuteMs },
  })
  return 'gate' in gated ? { denial: gated } : { assignment, allowed: gated }
}
