import { claudeDialect } from '../../../src/adapters/claude/claude-cli.ts'
import type { Mode } from './plan.ts'

/** A message as the daemon has it at the end. */
export type Ended = {
  readonly text: string
  readonly mode: Mode
  readonly state: string
  readonly detail: string | null
}

/** What a program took, as it says itself. */
export type Taken = { readonly text: string; readonly how: 'typed' | 'injected' }

export type Findings = {
  readonly accepted: number
  /** Never given to the program, and the sender was told. */
  readonly refused: readonly string[]
  readonly faults: readonly string[]
}

/** A text of a person, whatever a box does with its lines. */
export const inOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

/** How a text arrives when nothing is done to it but what typing needs. */
const asTyped = (text: string): string => claudeDialect.harmless(text)
const brief = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)

/** Compares what was sent to one session with what its program took. */
export function compare(
  sent: readonly Ended[],
  taken: readonly Taken[],
  { drafts, same }: { drafts: ReadonlySet<string>; same: (taken: Taken, text: string) => boolean },
): Findings {
  const faults: string[] = []
  const refused: string[] = []
  const left = taken.filter((one) => !drafts.has(inOneLine(one.text)))
  const unused = [...left]
  const places: { place: number; mode: Mode; text: string }[] = []
  let accepted = 0
  // Equal texts are told apart by their ends: what was accepted is looked for first.
  const isDead = ({ state }: Ended) => state === 'failed'
  for (const message of [...sent.filter((one) => !isDead(one)), ...sent.filter(isDead)]) {
    const at = unused.findIndex((one) => same(one, message.text))
    const found = at < 0 ? undefined : unused.splice(at, 1)[0]
    if (isDead(message)) {
      if (found)
        faults.push(`a dead letter was taken all the same: ${brief(message.text)} (${message.detail})`)
      else if (!message.detail) faults.push(`a dead letter without a reason: ${brief(message.text)}`)
      else refused.push(`${brief(message.text)}: ${message.detail}`)
    } else if (message.state !== 'accepted' && message.state !== 'answered')
      faults.push(`it has no end: ${brief(message.text)} is ${message.state} (${message.detail})`)
    else if (!found) faults.push(`lost: ${brief(message.text)} (${message.mode})`)
    else {
      accepted += 1
      places.push({ place: left.indexOf(found), mode: message.mode, text: message.text })
    }
  }
  for (const one of unused)
    faults.push(
      sent.some(({ text }) => same(one, text))
        ? `doubled: ${brief(one.text)}`
        : `merged, changed or unknown: ${brief(one.text)} (${one.how}, ${one.text.length})`,
    )
  for (const mode of ['sequential', 'important', 'urgent'] as const) {
    const order = places.filter((one) => one.mode === mode)
    order.forEach((one, i) => {
      const before = order[i - 1]
      if (before && before.place > one.place)
        faults.push(`out of order: ${brief(one.text)} came before ${brief(before.text)}`)
    })
  }
  return { accepted, refused, faults }
}

/** Byte for byte, as a program says that keeps what it got. */
export const isExact = ({ text, how }: Taken, sent: string): boolean =>
  how === 'typed' ? text === asTyped(sent) : text === sent || text === asTyped(sent)
