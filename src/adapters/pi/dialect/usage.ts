import {
  type Foreign,
  foreign,
  foreignCount,
  foreignText,
  told,
} from '../../../contract/formats/foreign-json.ts'
import type { Signal } from '../../../contract/signal.ts'
import type { TranscriptMemory } from '../../../ports/agent-cli.ts'

type Seen = { readonly source: 'transcript'; readonly at: number; readonly agent?: string }

/** The tokens of an answer; pi counts cached input apart already, and one that was cut off has none. */
export function piUsage(
  said: Foreign,
  {
    id,
    memory,
    seen,
  }: { readonly id: string | undefined; readonly memory: TranscriptMemory; readonly seen: Seen },
): readonly Signal[] {
  const usage = foreign(said['usage'])
  const [input, output] = [foreignCount(usage['input']), foreignCount(usage['output'])]
  if (input === undefined || output === undefined) return []
  const [cacheRead, cacheWrite] = [
    foreignCount(usage['cacheRead']) ?? 0,
    foreignCount(usage['cacheWrite']) ?? 0,
  ]
  const total = foreignCount(usage['totalTokens']) ?? input + output + cacheRead + cacheWrite
  const responseId =
    foreignText(said['responseId']) ?? (id && `pi:${foreignText(memory['session']) ?? ''}:${id}`)
  if (total === 0 || responseId === undefined) return []
  return [
    {
      ...seen,
      kind: 'usage',
      responseId,
      model: foreignText(said['model']) ?? 'unknown',
      usage: { input, output, cacheRead, cacheWrite, total },
      ...told({ finishReason: foreignText(said['stopReason']) }),
    },
  ]
}
