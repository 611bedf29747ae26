import type { Conversation } from './conversation.ts'
import type { Failure } from './encode-error.ts'
import { nextStep } from './next-step.ts'
import { sampleOfSchema } from './sample-of-schema.ts'
import { type Scenarios, Step } from './script.ts'

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
  const { side, turns } = conversation
  if (side !== undefined) {
    const text = side.shape === undefined ? 'ok' : JSON.stringify(sampleOfSchema(side.shape))
    return { answered: 'side', step: saying(text) }
  }
  const next = nextStep(turns, scenarios)
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
