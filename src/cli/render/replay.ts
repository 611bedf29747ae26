import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { View } from '../command-module.ts'
import { oneLine } from './one-line.ts'
import { painter } from './paint.ts'
import { wrap } from './text-width.ts'

const verdicts = {
  exact: 'exact: the same calls, the same answers',
  different: 'different',
  inexact: 'inexact: it ran through, with what the journal shows of the texts',
  branched: 'branched',
} as const

/** What came of a replay: each run with its end, and where it comes to something else. */
export function renderReplay(data: CommandOutput<'replay'>, { width, color }: View): string {
  const paint = painter(color)
  if (data.session_id !== undefined) {
    const id = data.session_id
    return `${id} goes on from step ${data.step} | sm output ${id}`
  }
  const lines = data.runs.flatMap(({ run_id, parent_run_id, agent_id, steps, ...run }) => [
    `${parent_run_id ? '  ' : ''}${agent_id} ${run_id} | ${steps.length} steps | ${oneLine(run.recorded_end)} → ${run.replayed_end}`,
    ...run.differences.flatMap(({ step, what, detail }) => {
      const seq = steps.find((one) => one.step === step)?.seq
      return wrap(
        `step ${step}${seq === undefined ? '' : ` (seq ${seq})`}, ${what}: ${oneLine(detail)}`,
        width - 4,
      ).map((line) => `    ${paint('yellow', line)}`)
    }),
  ])
  // A run that was cut off has no end that the loop itself would come to.
  const ends = data.runs.every(({ recorded_end, replayed_end }) => recorded_end === replayed_end)
  const end = data.verdict !== 'exact' ? '' : ends ? ', the same end' : ', as far as the record goes'
  const verdict = paint(data.verdict === 'different' ? 'red' : 'green', `${verdicts[data.verdict]}${end}`)
  return [verdict, '', ...lines].join('\n')
}
