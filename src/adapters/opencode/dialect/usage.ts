import {
  type Foreign,
  foreign,
  foreignCount,
  foreignText,
  told,
} from '../../../contract/formats/foreign-json.ts'
import type { Signal } from '../../../contract/signal.ts'

type Seen = { readonly source: 'hook'; readonly at: number; readonly agent?: string }

/** The tokens of a finished answer. Reasoning is counted beside the output there; an answer cut off has none. */
export function openCodeUsage(info: Foreign, seen: Seen): readonly Signal[] {
  const [responseId, tokens] = [foreignText(info['id']), foreign(info['tokens'])]
  const [input, output] = [foreignCount(tokens['input']), foreignCount(tokens['output'])]
  if (info['role'] !== 'assistant' || responseId === undefined) return []
  if (input === undefined || output === undefined) return []
  const { read, write } = foreign(tokens['cache'])
  const [cacheRead, cacheWrite] = [foreignCount(read) ?? 0, foreignCount(write) ?? 0]
  const reasoning = foreignCount(tokens['reasoning']) ?? 0
  const total = foreignCount(tokens['total']) ?? input + output + reasoning + cacheRead + cacheWrite
  if (total === 0) return []
  return [
    {
      ...seen,
      kind: 'usage',
      responseId,
      model: foreignText(info['modelID']) ?? 'unknown',
      usage: { input, output: output + reasoning, cacheRead, cacheWrite, reasoning, total },
      ...told({ finishReason: foreignText(info['finish']) }),
    },
  ]
}
