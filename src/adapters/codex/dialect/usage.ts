import type * as z from 'zod'
import {
  type Foreign,
  foreign,
  foreignCount,
  foreignText,
  told,
} from '../../../contract/formats/foreign-json.ts'
import type { Signal } from '../../../contract/signal.ts'
import type { Tokens } from '../../../contract/values.ts'
import type { TranscriptMemory } from '../../../ports/agent-cli.ts'

type Usage = z.infer<typeof Tokens>

/** The tokens of one response: input is counted without what came from the cache or went into it. */
export function codexTokens(usage: Foreign): Usage | undefined {
  const [input, output] = [foreignCount(usage['input_tokens']), foreignCount(usage['output_tokens'])]
  if (input === undefined || output === undefined) return undefined
  const cacheRead = foreignCount(usage['cached_input_tokens']) ?? 0
  const cacheWrite = foreignCount(usage['cache_write_input_tokens']) ?? 0
  return {
    input: Math.max(0, input - cacheRead - cacheWrite),
    output,
    cacheRead,
    cacheWrite,
    reasoning: foreignCount(usage['reasoning_output_tokens']) ?? 0,
    total: foreignCount(usage['total_tokens']) ?? input + output,
  }
}

type Seen = { readonly source: 'transcript'; readonly at: number; readonly agent?: string }

/** A `token_usage_record` names its response: it alone is counted wherever there are any. */
export function usageRecord(payload: Foreign, memory: TranscriptMemory, seen: Seen): readonly Signal[] {
  const responseId = foreignText(payload['response_id'])
  const usage = codexTokens(foreign(payload['usage']))
  if (responseId === undefined || usage === undefined) return []
  memory['hasRecords'] = true
  return [{ ...seen, kind: 'usage', responseId, model: foreignText(memory['model']) ?? 'unknown', usage }]
}

/**
 * Older versions only count: the same totals are written again when nothing was used, and the "last" usage stands
 * there as well. What a response used is therefore the difference between two totals.
 */
export function usageCount(info: Foreign, memory: TranscriptMemory, seen: Seen): readonly Signal[] {
  if (memory['hasRecords'] === true) return []
  const total = foreign(info['total_token_usage'])
  const before = foreign(memory['total'])
  const spent = foreignCount(total['total_tokens'])
  if (spent === undefined || spent <= (foreignCount(before['total_tokens']) ?? 0)) return []
  memory['total'] = total
  const usage = codexTokens(
    Object.fromEntries(
      Object.entries(total).map(([name, value]) => [
        name,
        (foreignCount(value) ?? 0) - (foreignCount(before[name]) ?? 0),
      ]),
    ),
  )
  if (!usage) return []
  const responseId = `codex:${foreignText(memory['thread']) ?? ''}:${spent}`
  return [{ ...seen, kind: 'usage', responseId, model: foreignText(memory['model']) ?? 'unknown', usage }]
}

/** How full the context is and how much of the plan's allowances is used. */
export function meterOf(payload: Foreign, seen: Seen): readonly Signal[] {
  const info = foreign(payload['info'])
  const window = foreignCount(info['model_context_window'])
  const used = foreignCount(foreign(info['last_token_usage'])['total_tokens'])
  const limits = ['primary', 'secondary'].flatMap((name) => {
    const limit = foreign(foreign(payload['rate_limits'])[name])
    const usedPercent = limit['used_percent']
    const resets = limit['resets_at']
    if (typeof usedPercent !== 'number') return []
    return [told({ name, usedPercent, resetsAtMs: typeof resets === 'number' ? resets * 1000 : undefined })]
  })
  const contextPercent = window && used !== undefined ? Math.min(100, (100 * used) / window) : undefined
  if (contextPercent === undefined && limits.length === 0) return []
  return [
    { ...seen, kind: 'meter', ...told({ contextPercent, limits: limits.length > 0 ? limits : undefined }) },
  ]
}
