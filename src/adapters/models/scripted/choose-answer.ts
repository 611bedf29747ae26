import * as z from 'zod'
import type { Conversation, Failure, Turn } from './protocol.ts'
import { findScript, type Scenarios, Step } from './script.ts'

/** What is done with a request, and why. */
export type Choice = {
  readonly answered: 'step' | 'finished' | 'unscripted' | 'side' | 'failure' | 'broken' | 'hang'
  /** Where in which script; requests outside a script have none. */
  readonly at?: { readonly key: string; readonly index: number }
  readonly step: Step
  readonly failure?: Failure
}

/** Whether an attempt at a step that fails so many times fails again. */
export type FailsAgain = (place: string, times: number | undefined) => boolean

/** Chooses what a conversation is answered. */
export function chooseAnswer(
  conversation: Conversation,
  { scenarios, failsAgain }: { scenarios: Scenarios; failsAgain: FailsAgain },
): Choice {
  const { side } = conversation
  if (side !== undefined) {
    const text = side.shape === undefined ? 'ok' : JSON.stringify(sampleOfSchema(side.shape))
    return { answered: 'side', step: saying(text) }
  }
  const next = nextStep(conversation, scenarios)
  switch (next.kind) {
    case 'unscripted':
      return { answered: 'unscripted', step: saying(noScript) }
    case 'broken':
      return {
        answered: 'broken',
        step: saying(''),
        failure: { status: 400, message: `scripted model: ${next.why}` },
      }
    case 'finished':
      return { answered: 'finished', at: next, step: saying('The script has no more steps.') }
    case 'step': {
      const { step, key, index } = next
      const { status, times, retryAfterSec } = step
      const at = { key, index }
      if (hasFault(step) && !failsAgain(`${key} ${index}`, times))
        return { answered: 'step', at, step: withoutFault(step) }
      if (status !== undefined)
        return {
          answered: 'failure',
          at,
          step,
          failure: { status, retryAfterSec, message: 'a scripted failure' },
        }
      return { answered: step.hang ? 'hang' : 'step', at, step }
    }
  }
}

const hasFault = ({ status, cut, hang, tools }: Step): boolean =>
  status !== undefined || cut || hang || tools.some(({ broken }) => broken)

const withoutFault = (step: Step): Step => ({
  ...step,
  cut: false,
  hang: false,
  tools: step.tools.map((call) => ({ ...call, broken: false })),
})

const saying = (text: string): Step => Step.parse({ text })

// It must not look like a script itself: a parent that is told these words would run it.
const noScript =
  'No model was called. This is the scripted model of Muster, and the prompt has no script in it. ' +
  'Write SCRIPT: and a JSON array of steps into the prompt to say what it does.'

/** What comes next in a conversation. */
export type Next =
  | { readonly kind: 'step'; readonly step: Step; readonly index: number; readonly key: string }
  | { readonly kind: 'finished'; readonly index: number; readonly key: string }
  | { readonly kind: 'broken'; readonly why: string }
  | { readonly kind: 'unscripted' }

/** The step that the conversation itself says is next: as many as the model's turns since the script. */
export function nextStep(
  { turns, model }: Pick<Conversation, 'turns' | 'model'>,
  scenarios: Scenarios,
): Next {
  for (let at = turns.length - 1; at >= 0; at--) {
    const turn = turns[at]
    const found = turn?.role === 'user' ? findScript(turn.text, { scenarios, model }) : undefined
    if (found === undefined) continue
    if (found.kind === 'broken') return found
    const { steps, key } = found
    const index = turns.slice(at + 1).filter(({ role }) => role === 'model').length
    const step = steps[index]
    if (step === undefined) return { kind: 'finished', index, key }
    return { kind: 'step', step: filled(step, lastToolResult(turns)), index, key }
  }
  return { kind: 'unscripted' }
}

/** Only what the model says is filled in: a tool's input may hold a script in which the words are meant for later. */
function filled(step: Step, result: string): Step {
  const fill = (text: string) => text.replaceAll('${lastToolResult}', () => result)
  return {
    ...step,
    ...(step.text !== undefined && { text: fill(step.text) }),
    ...(step.thinking !== undefined && { thinking: fill(step.thinking) }),
  }
}

const lastToolResult = (turns: readonly Turn[]): string =>
  turns.findLast(({ role }) => role === 'tool')?.text.trim() ?? ''

const mostPlaces = 1000

/** Counts attempts at steps that fail a few times and then go on: the one thing a conversation does not tell. */
export function failingAttempts(): FailsAgain {
  const counts = new Map<string, number>()
  return (place, times) => {
    if (times === undefined) return true
    const count = counts.get(place) ?? 0
    if (count >= times) return false
    counts.delete(place)
    counts.set(place, count + 1)
    const [oldest] = counts.keys()
    if (counts.size > mostPlaces && oldest !== undefined) counts.delete(oldest)
    return true
  }
}

const Schema = z.looseObject({
  type: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .catch(undefined),
  enum: z.array(z.unknown()).optional().catch(undefined),
  anyOf: z.array(z.unknown()).optional().catch(undefined),
  oneOf: z.array(z.unknown()).optional().catch(undefined),
  properties: z.record(z.string(), z.unknown()).optional().catch(undefined),
  items: z.unknown().optional(),
  minItems: z.number().optional().catch(undefined),
  minimum: z.number().optional().catch(undefined),
})

const deepest = 12

/** The plainest value that fits a JSON schema, also one in Gemini's capital letters. */
export function sampleOfSchema(schema: unknown, depth = 0): unknown {
  const parsed = Schema.safeParse(schema)
  if (!parsed.success || depth > deepest) return 'ok'
  const { type, properties, items, minItems = 0, minimum = 0, ...rest } = parsed.data
  if ('const' in rest) return rest['const']
  if (rest.enum?.length) return rest.enum[0]
  const [choice] = rest.anyOf ?? rest.oneOf ?? []
  if (choice !== undefined) return sampleOfSchema(choice, depth + 1)
  switch ([type].flat()[0]?.toLowerCase() ?? (properties === undefined ? 'string' : 'object')) {
    case 'object': {
      const fields = Object.entries(properties ?? {})
      return Object.fromEntries(fields.map(([name, field]) => [name, sampleOfSchema(field, depth + 1)]))
    }
    case 'array':
      return Array.from({ length: Math.min(minItems, 10) }, () => sampleOfSchema(items, depth + 1))
    case 'boolean':
      return false
    case 'number':
    case 'integer':
      return Math.ceil(minimum)
    case 'null':
      return null
    default:
      return 'ok'
  }
}
