import type { CommandOutput } from '../../contract/cli/outputs.ts'
import { errorCodes } from '../../contract/errors.ts'
import type { SessionId } from '../../contract/ids.ts'
import { shortId } from '../../contract/short-id.ts'
import { defineCommands, type View } from '../command-module.ts'
import { given } from '../parse-values.ts'
import { ago } from '../render/figures.ts'
import { painter } from '../render/paint.ts'
import { harmless, oneLine } from '../render/safe-text.ts'
import { wrap } from '../render/text-width.ts'

/** Looking back: words that were said, and runs that are over. */
export const historyCommands = defineCommands({
  search: {
    asks: ({ query, session, limit }) => ({ q: query.join(' '), limit, ...given({ session }) }),
    render: renderHits,
  },
  replay: {
    asks: ({ run, from, model, prompt, 'run-tools': run_tools, inexact }) => ({
      id: run,
      from,
      model,
      prompt,
      run_tools,
      inexact,
    }),
    render: renderReplay,
    exitCode: ({ verdict }) => (verdict === 'different' ? errorCodes.failed.exit : 0),
  },
})

const verdicts = {
  exact: 'exact: the same calls, the same answers',
  different: 'different',
  inexact: 'inexact: it ran to the end, using the text in the journal',
  branched: 'branched',
} as const

type Hit = CommandOutput<'search'>['hits'][number]

/** Where words were said: a line of place and time, then the words in their context. */
export function renderHits({ hits }: CommandOutput<'search'>, view: View): string {
  if (hits.length === 0) return 'No results.'
  return hits.map((hit) => renderHit(hit, view)).join('\n\n')
}

function renderHit(hit: Hit, { width, now, color }: View): string {
  const paint = painter(color)
  const what = oneLine([hit.type, hit.tool, hit.status].filter(Boolean).join(' '))
  const head = `${paint('cyan', shortId(hit.sessionId as SessionId))}  ${ago(hit.atMs, now)}  ${what}  #${hit.seq}`
  // Hits are marked before lines are broken, so a mark never spans a break that it does not belong to.
  const words = hit.snippet.map(({ text, isHit }) =>
    isHit
      ? harmless(text).replaceAll(/\S+/g, (word) => paint('bold', word))
      : harmless(text).replaceAll(/\s+/g, ' '),
  )
  return [head, ...wrap(words.join(''), Math.max(20, width - 4)).map((line) => `    ${line}`)].join('\n')
}

/** What came of a replay: each run with its end, and where it comes to something else. */
export function renderReplay(data: CommandOutput<'replay'>, { width, color }: View): string {
  const paint = painter(color)
  if (data.session_id !== undefined) {
    const id = data.session_id
    return `${id} continues from step ${data.step} | sm output ${id}`
  }
  const lines = data.runs.flatMap(({ run_id, parent_run_id, agent_id, steps, ...run }) => [
    `${parent_run_id ? '  ' : ''}${oneLine(`${agent_id} ${run_id} | ${steps.length} steps | ${run.recorded_end} → ${run.replayed_end}`)}`,
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
  const end = data.verdict !== 'exact' ? '' : ends ? ', the same end' : ', up to the end of the record'
  const verdict = paint(data.verdict === 'different' ? 'red' : 'green', `${verdicts[data.verdict]}${end}`)
  return [verdict, '', ...lines].join('\n')
}
