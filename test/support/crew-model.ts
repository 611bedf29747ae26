import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ScriptedModel } from '../../src/adapters/models/scripted/scripted-model.ts'
import {
  demonstrationCast,
  demonstrationRequest,
  demonstrationScript,
} from '../../src/contract/demonstration.ts'
import { startScriptedModel } from './scripted-model/scripted-model.ts'

/** One part of a play: the words that its prompt has, and what is done. */
export type Part = { readonly when: string; readonly steps: readonly object[] }

type Step = (typeof demonstrationCast)['cast'][number]['steps'][number]

/** A turn takes so long: the flow is then short enough to be gone through many times. */
const turnMs = 40

/** What was cut off is told and not done again by itself: like a model that minds it, the script makes each change twice. */
const carefully = (step: Step): Step[] =>
  'tools' in step && step.tools?.some(({ name }) => name === 'Write' || name === 'Edit')
    ? [step, step]
    : [step]

const saying = (value: object) => ({ text: `\`\`\`json\n${JSON.stringify(value)}\n\`\`\`` })
const deciding = (verdict: string, action: string): Part => ({
  when: `of the review ended with ${verdict}`,
  steps: [saying({ action, reason: 'the review is right' })],
})
const report = saying({ summary: 'It is as it is.', outcome: 'approved' })

/** What an architect says that is not played otherwise; its report stays as it is when its claims are disputed. */
const usual: readonly Part[] = [
  { when: 'write the final report', steps: [report, report] },
  deciding('changes_requested', 'revise'),
  deciding('rejected', 'replan'),
]

/** The parts that a test plays, and what else an architect is asked. */
export function castOf(parts: readonly Part[]): readonly Part[] {
  const isPlayed = ({ when }: Part) => parts.some((part) => part.when === when)
  return [...usual.filter((part) => !isPlayed(part)), ...parts]
}

/** A scripted model that plays the demonstration quickly, and other parts under `SCRIPT=play`. */
export function crewModel(parts: readonly Part[] = []): Promise<ScriptedModel> {
  const quick = demonstrationCast.cast.map(({ when, steps }) => ({
    when,
    steps: steps.flatMap(carefully).map((step) => ({ ...step, delayMs: turnMs })),
  }))
  const play = parts.length === 0 ? {} : { play: { cast: castOf(parts) as never } }
  return startScriptedModel({
    maxRequests: 10,
    scenarios: { [demonstrationScript]: { cast: quick }, ...play },
  })
}

/** Which of its models plays what is asked for. */
export const playerOf = (request: string): string =>
  request === demonstrationRequest ? `fast/${demonstrationScript}` : 'fast/scripted-1'

/** Settings and environment of a daemon that finds this model as `fast/scripted-1`. */
export function crewSettings(home: string, url: string, more = ''): Record<string, string> {
  const config = join(home, 'config.yaml')
  const provider = `fast: { protocol: anthropic, base_url: "${url}/v1", key_env: FAST_KEY }`
  writeFileSync(config, `models: { default: fast/scripted-1, providers: { ${provider} } }\n${more}`)
  return { MUSTER_CONFIG: config, FAST_KEY: 'x' }
}
