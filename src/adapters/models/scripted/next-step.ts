import { findScript } from './find-script.ts'
import type { Scenarios, Step } from './script.ts'
import type { Turn } from './turn.ts'

/** What comes next in a conversation. */
export type Next =
  | { readonly kind: 'step'; readonly step: Step; readonly index: number; readonly key: string }
  | { readonly kind: 'finished'; readonly index: number; readonly key: string }
  | { readonly kind: 'broken'; readonly why: string }
  | { readonly kind: 'unscripted' }

/** The step that the conversation itself says is next: as many as the model's turns since the script. */
export function nextStep(turns: readonly Turn[], scenarios: Scenarios): Next {
  for (let at = turns.length - 1; at >= 0; at--) {
    const turn = turns[at]
    const found = turn?.role === 'user' ? findScript(turn.text, scenarios) : undefined
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
