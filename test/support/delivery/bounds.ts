/** What became of a message, and when. */
export type Step = {
  readonly messageId: string
  readonly step: 'queued' | 'typed' | 'ended'
  readonly atMs: number
}

/** While a person sits at a terminal, everything waits for them. */
export type Visit = { readonly fromMs: number; readonly toMs: number }

/** An idle session takes a message within this, counted from when those before it have ended. */
const takenMs = 60_000
/** What was typed has its proof or is a dead letter within this: Enter for 30 s, then 45 s for a receipt; and a look around. */
const provedMs = 80_000
/** With people at the box, a dialog before it or a screen that cannot be read, it has an end within this all the same. */
const everMs = 600_000
/** Muster types so long after the last key. */
const quietMs = 5000

/** How many times slower than a quiet machine this one was in a time. */
export type Slow = (fromMs: number, toMs: number) => number

type Late = { readonly messageId: string; readonly why: string }

/** Which of the messages of one session took longer than their bound, and how long the slowest had its turn. */
export function late(
  steps: readonly Step[],
  { visits, slow, nowMs }: { visits: readonly Visit[]; slow: Slow; nowMs: number },
): { late: Late[]; longestMs: number } {
  const found: Late[] = []
  let longestMs = 0
  let freeMs = 0
  const undisturbed = (fromMs: number, toMs: number): number =>
    Math.max(0, toMs - fromMs - overlap(visits, fromMs, toMs))
  const ids = [...new Set(steps.map(({ messageId }) => messageId))]
  for (const messageId of ids) {
    const at = (step: Step['step']) =>
      steps.find((one) => one.messageId === messageId && one.step === step)?.atMs
    const turnMs = Math.max(at('queued') ?? 0, freeMs)
    const endMs = at('ended') ?? nowMs
    const typedMs = at('typed') ?? endMs
    const isTold = at('typed') === undefined && at('ended') !== undefined
    const spans = [
      ['to be typed', undisturbed(turnMs, typedMs), isTold ? everMs : takenMs],
      ['for its proof', undisturbed(typedMs, endMs), provedMs],
      ['in all', endMs - typedMs, everMs],
    ] as const
    for (const [what, tookMs, boundMs] of spans)
      if (tookMs > boundMs * slow(turnMs, endMs))
        found.push({ messageId, why: `waited ${Math.round(tookMs / 1000)} s ${what}` })
    longestMs = Math.max(longestMs, endMs - turnMs)
    freeMs = endMs
  }
  return { late: found, longestMs }
}

/** How much of a time belongs to people; visits may follow each other closely, and count once. */
function overlap(visits: readonly Visit[], fromMs: number, toMs: number): number {
  let sum = 0
  let doneMs = fromMs
  for (const visit of visits) {
    const begin = Math.max(visit.fromMs, doneMs)
    const end = Math.min(visit.toMs + quietMs, toMs)
    if (end <= begin) continue
    sum += end - begin
    doneMs = end
  }
  return sum
}
