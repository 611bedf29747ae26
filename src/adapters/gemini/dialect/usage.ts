import { type Foreign, foreign, foreignCount, foreignText } from '../../../contract/formats/foreign-json.ts'
import type { Signal } from '../../../contract/signal.ts'
import type { TranscriptMemory } from '../../../ports/agent-cli.ts'

/** The tokens of a message. Thoughts are counted beside the output there, and cached input within the input. */
export function geminiUsage(
  record: Foreign,
  memory: TranscriptMemory,
  {
    id,
    ...seen
  }: { readonly source: 'transcript'; readonly at: number; readonly agent?: string; readonly id: string },
): readonly Signal[] {
  const tokens = foreign(record['tokens'])
  const [input, output] = [foreignCount(tokens['input']), foreignCount(tokens['output'])]
  if (input === undefined || output === undefined) return []
  const [cacheRead, reasoning] = [foreignCount(tokens['cached']) ?? 0, foreignCount(tokens['thoughts']) ?? 0]
  const tool = foreignCount(tokens['tool']) ?? 0
  // Written again with the same figures when its tools are done, and with others when it was not whole before.
  const figures = `${id} ${[input, output, cacheRead, reasoning, tool].join(' ')}`
  if (memory['counted'] === figures) return []
  memory['counted'] = figures
  return [
    {
      ...seen,
      kind: 'usage',
      responseId: id,
      model: foreignText(record['model']) ?? 'unknown',
      usage: {
        input: Math.max(0, input - cacheRead) + tool,
        output: output + reasoning,
        cacheRead,
        cacheWrite: 0,
        reasoning,
        total: foreignCount(tokens['total']) ?? input + output + reasoning + tool,
      },
    },
  ]
}
