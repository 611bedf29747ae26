import { claudeDialect } from '../../../src/adapters/claude/claude-cli.ts'
import type { Taken } from './check.ts'
import { tiny } from './plan.ts'

/** What of the texts that a conversation told its model came from the campaign, and how. */
export function takenFrom(texts: readonly string[]): readonly Taken[] {
  return texts.flatMap(asTaken).filter(({ text }) => isOfCampaign(text))
}

/** Blanks and control characters aside, the same to the last character; what a hook brought is as it was sent. */
export const isSame = ({ text, how }: Taken, sent: string, { harmless } = claudeDialect): boolean =>
  folded(text) === folded(how === 'typed' ? harmless(sent) : sent)

/** A prompt that a running turn took from the CLI's own queue. */
const midTurn =
  /^(?:<system-reminder>\n)?The user sent a new message while you were working:\n([\s\S]*)\n\n(?:This is how Claude Code surfaces|IMPORTANT: )[^\n]*(?:\n<\/system-reminder>)?\s*$/

/** What hooks brought stands in notes of the CLI, several in one block. */
const notes = /\bhook additional context: ([\s\S]*?)\s*(?:<\/system-reminder>|$)/g

function asTaken(text: string): Taken[] {
  // The same words again, as a note about the hook.
  if (text.includes('Stop hook blocking error from command')) return []
  const feedback = /^Stop hook feedback:\n([\s\S]*)$/.exec(text)?.[1]
  if (feedback !== undefined) return [{ how: 'injected', text: feedback }]
  const queued = midTurn.exec(text)?.[1]
  if (queued !== undefined) return [{ how: 'typed', text: queued }]
  const injected = [...text.matchAll(notes)].map(
    ([, words = '']): Taken => ({ how: 'injected', text: words }),
  )
  return injected.length > 0 ? injected : [{ how: 'typed', text }]
}

const typedTiny = new Set(tiny.map((text) => claudeDialect.harmless(text)))

const isOfCampaign = (text: string): boolean =>
  /\bm\d+\./.test(text) || text.includes('draft-') || typedTiny.has(text.trim())

/** A joiner that joins nothing shows nothing; Claude Code leaves it out at the edges of a line. */
const idleJoiner =
  /(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F])\u200D|\u200D(?!\p{Extended_Pictographic})/gu

const folded = (text: string): string =>
  text
    .normalize('NFC')
    .replaceAll(idleJoiner, '')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
