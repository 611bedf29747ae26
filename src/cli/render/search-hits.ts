import type { CommandOutput } from '../../contract/cli/outputs.ts'
import { type SessionId, shortId } from '../../contract/ids.ts'
import type { View } from '../command-module.ts'
import { oneLine } from './one-line.ts'
import { painter } from './paint.ts'
import { relativeTime } from './relative-time.ts'
import { wrap } from './text-width.ts'

type Hit = CommandOutput<'search'>['hits'][number]

/** Where words were said: a line of place and time, then the words in their context. */
export function renderHits({ hits }: CommandOutput<'search'>, view: View): string {
  if (hits.length === 0) return 'Nothing was found.'
  return hits.map((hit) => renderHit(hit, view)).join('\n\n')
}

function renderHit(hit: Hit, { width, now, color }: View): string {
  const paint = painter(color)
  const what = [hit.type, hit.tool, hit.status].filter(Boolean).join(' ')
  const head = `${paint('cyan', shortId(hit.sessionId as SessionId))}  ${relativeTime(hit.atMs, now)}  ${what}  #${hit.seq}`
  // Hits are marked before lines are broken, so a mark never spans a break that it does not belong to.
  const words = hit.snippet.map(({ text, isHit }) =>
    isHit ? oneLine(text).replaceAll(/\S+/g, (word) => paint('bold', word)) : text.replaceAll(/\s+/g, ' '),
  )
  return [head, ...wrap(words.join(''), Math.max(20, width - 4)).map((line) => `    ${line}`)].join('\n')
}
