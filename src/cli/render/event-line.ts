import { type SessionId, shortId } from '../../contract/ids.ts'
import type { WireEvent } from '../../contract/routes.ts'
import type { View } from '../command-module.ts'
import { oneLine } from './one-line.ts'
import { painter } from './paint.ts'
import { cut, pad } from './text-width.ts'

/** One event in one line: when, its number, type, session, and the plain fields of its payload. */
export function renderEventLine(event: WireEvent, { width, color }: View): string {
  const paint = painter(color)
  const head = `[${clockTime(event.timestamp)}] ${String(event.seq).padStart(6)}  `
  const type = pad(event.type, 25)
  const session = `  ${shortId(event.sessionId as SessionId)}  `
  const rest = cut(
    oneLine(fieldsOf(event.payload)),
    Math.max(10, width - head.length - type.length - session.length),
  )
  return `${paint('dim', head)}${paint(colourOf(event.type), type)}${session}${rest}`.trimEnd()
}

/** The time of day where the reader is. */
export function clockTime(timestamp: string): string {
  const at = new Date(timestamp)
  return [at.getHours(), at.getMinutes(), at.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':')
}

function colourOf(type: string): 'red' | 'green' | 'cyan' {
  if (/failed|killed|denied|abandoned|rejected|exceeded/.test(type)) return 'red'
  return /completed|passed|granted|verified/.test(type) ? 'green' : 'cyan'
}

function fieldsOf(payload: unknown): string {
  if (typeof payload !== 'object' || payload === null) return ''
  return Object.entries(payload)
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(' ')
}
