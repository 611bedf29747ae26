import * as z from 'zod'
import type { SignalOf } from '../../contract/signal.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { Tool } from '../../ports/tools.ts'
import type { Recorder } from '../recorder.ts'
import { runtimeTool, said, type ToolRun, wrong } from './runtime-tool.ts'

const Option = z.strictObject({ label: z.string().min(1).max(200), description: z.string().optional() })

const Questions = z.strictObject({
  questions: z
    .array(
      z.strictObject({
        question: z.string().min(1).max(2000),
        header: z.string().max(100).optional(),
        options: z.array(Option).max(8).optional(),
        multiSelect: z.boolean().optional(),
      }),
    )
    .min(1)
    .max(4),
})
const Nothing = z.strictObject({})
const PlanShown = z.strictObject({ plan: z.string().min(1) })

/** What only a person can decide: a question, or whether a plan is good. */
export function askingTools(own: ToolRun, recorder: Recorder): readonly Tool[] {
  const { parts, run, notes, questions } = own
  const asking = (more: Partial<SignalOf<'asking'>>): SignalOf<'asking'> => ({
    kind: 'asking',
    source: 'explicit',
    at: parts.clock.now(),
    ask: 'question',
    ...more,
  })
  return [
    runtimeTool({
      name: 'AskUserQuestion',
      description:
        'Asks the person you work for, when you cannot decide yourself and a wrong guess would be costly. The work pauses until the answer.',
      category: 'interaction',
      input: Questions,
      async run({ questions: asked }) {
        await recorder.durable()
        const decision = await questions.ask(
          run,
          asking({
            questions: asked.map(({ question, header, options = [], multiSelect = false }) => ({
              question,
              options: options.map(({ label, description }) => ({
                label,
                ...(description && { description }),
              })),
              isMany: multiSelect,
              ...(header && { header }),
            })),
          }),
        )
        if (decision.verdict === 'deny')
          return wrong(
            `No answer: ${decision.reason ?? 'it was declined'}. Decide yourself, and say what you chose.`,
          )
        const { answers = {} } = decision
        return said(asked.map(({ question }) => `${question}\n→ ${answers[question] ?? ''}`).join('\n\n'))
      },
    }),
    runtimeTool({
      name: 'EnterPlanMode',
      description: 'Begins planning: until the plan is approved, nothing can be changed.',
      category: 'planning',
      input: Nothing,
      async run() {
        notes.isPlanning = true
        return said('You plan now. Look at what you need, then call ExitPlanMode with the plan.')
      },
    }),
    runtimeTool({
      name: 'ExitPlanMode',
      description: 'Shows your plan to the person you work for; work begins when it is approved.',
      category: 'planning',
      input: PlanShown,
      async run({ plan }) {
        if (!notes.isPlanning) return wrong('you are not planning; call EnterPlanMode first')
        recorder.record([draftOf(run.root, 'plan.created', { plan })])
        await recorder.durable()
        const decision = await questions.ask(run, asking({ ask: 'plan', input: { plan } }))
        if (decision.verdict === 'deny')
          return wrong(`The plan was not approved: ${decision.reason ?? 'no reason was given'}. Change it.`)
        notes.isPlanning = false
        return said('The plan is approved. Begin.')
      },
    }),
  ]
}
