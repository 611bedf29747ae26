import { setTimeout as sleep } from 'node:timers/promises'
import { seeded } from '../random.ts'
import type { Visit } from './bounds.ts'
import type { CampaignOptions, Field, Figures, Target } from './campaign.ts'
import { pasteBegins } from './campaign-daemon.ts'
import { inOneLine } from './check.ts'
import { type Person, readPane, sitDown, writeDraft } from './person.ts'

/** What people typed, what of it they sent, and when they were there. */
export type Drafts = {
  readonly drafts: Set<string>
  readonly sentDrafts: SentDraft[]
  readonly visits: ReadonlyMap<Target, Visit[]>
}
export type SentDraft = { readonly draft: string; readonly target: Target }

type Trouble = Drafts & {
  readonly options: CampaignOptions
  readonly figures: Figures
  readonly signal: AbortSignal
}

/** All that disturbs a campaign until its signal ends it. */
export async function troubles(field: Field, trouble: Trouble): Promise<void> {
  // Nobody sits down where somebody sits.
  const people = trouble.options.sizes === 'lengths' ? field.targets.map((one) => [one]) : [field.targets]
  await Promise.all([
    killing(field, trouble),
    ...people.map((targets, who) => visiting(field, trouble, { targets, who })),
    scrolling(field, trouble),
    // Only what runs tools asks anything.
    ...(trouble.options.sizes === 'lengths' ? [] : [answering(field, trouble)]),
  ])
}

const pause = (ms: number, signal: AbortSignal): Promise<unknown> =>
  sleep(ms, undefined, { signal }).catch(() => {})

async function killing({ daemon, home }: Field, { options, figures, signal }: Trouble): Promise<void> {
  const random = seeded(options.seed + 1)
  while (figures.kills < options.kills && !signal.aborted) {
    await pause(1500 + random() * 6000, signal)
    if (signal.aborted) return
    const isHunt = random() < 0.7 && (await pasteBegins(home, signal, 4000))
    if (isHunt) await sleep(random() < 0.5 ? random() * 15 : random() * 500)
    if (signal.aborted) return
    figures.kills += 1
    if (isHunt) figures.killsWithinPaste += 1
    await daemon.restart(random() * 1200)
  }
}

/** Like people: most write a line, some several, and some are sorry as soon as they have pressed Enter. */
function draftOf(name: string, random: () => number): { draft: string; isRegretted: boolean } {
  const roll = random()
  if (roll < 0.4) return { draft: `${name} half a thought of a person`, isRegretted: false }
  if (roll < 0.7)
    return { draft: `${name} half a thought\nof a person\nover several lines`, isRegretted: false }
  // The model takes its time, so that nothing is answered before Escape.
  const steps = Buffer.from(JSON.stringify([{ text: 'late', delayMs: 4000 }])).toString('base64')
  return { draft: `${name} half a thought SCRIPT64:${steps}`, isRegretted: true }
}

/** What one person types who goes from one of their sessions to another. */
async function visiting(
  { socket, ...program }: Field,
  { options, figures, drafts, sentDrafts, visits, signal }: Trouble,
  { targets, who }: { targets: readonly Target[]; who: number },
): Promise<void> {
  const random = seeded(options.seed + 2 + 100 * who)
  const isCalm = options.sizes === 'lengths'
  for (let n = 0; !signal.aborted; n++) {
    await pause(random() * options.personEveryMs * 2, signal)
    if (signal.aborted) return
    const target = targets[Math.floor(random() * targets.length)] as Target
    const name = `draft-${n}${String.fromCodePoint(97 + who)}`
    const { draft, isRegretted } = isCalm
      ? draftOf(name, random)
      : { draft: `${name} half a thought of a person`, isRegretted: false }
    drafts.add(inOneLine(draft))
    const fromMs = Date.now()
    const person: Person = await sitDown(socket, target.tmuxSession, program)
    const { end, seen, typed } = await writeDraft(person, draft, {
      // Also for longer than Muster waits after the last key.
      thinkMs: random() * (isCalm ? 8000 : 3000),
      isSent: random() < 0.5,
      isRegretted,
      ...(isCalm && { drawnMs: 90_000 }),
    })
    figures.drafts[end] = (figures.drafts[end] ?? 0) + 1
    figures.typed += typed
    if (seen !== undefined) options.say?.(`${draft} was ${end}: ${JSON.stringify(seen.slice(0, 200))}`)
    // Dialogs and interrupts of storms may swallow words; here nothing but Muster could.
    if (end === 'lost' && isCalm) {
      const left = inOneLine(seen ?? '')
      figures.lost += draft
        .split(/\s/)
        .reduce((sum, word) => sum + (left.includes(word) ? 0 : word.length), 0)
      figures.faults.push(`words of a person were lost: ${draft}`)
    }
    if (end === 'sent' && isCalm) sentDrafts.push({ draft, target })
    person.leave()
    visits.get(target)?.push({ fromMs, toMs: Date.now() })
  }
}

/** Somebody scrolled and went away. */
async function scrolling({ tmux, targets }: Field, { options, figures, signal }: Trouble): Promise<void> {
  const random = seeded(options.seed + 3)
  for (; !signal.aborted; figures.copyModes += 1) {
    await pause(random() * options.personEveryMs, signal)
    if (signal.aborted) return
    const target = targets[Math.floor(random() * targets.length)] as Target
    tmux('copy-mode', '-t', `=${target.tmuxSession}:`)
    if (random() < 0.5) tmux('send-keys', '-t', `=${target.tmuxSession}:`, '-X', 'page-up')
  }
}

/** Dialogs stay open for a while; then somebody answers, through Muster or at the terminal. */
async function answering(field: Field, { options, figures, signal }: Trouble): Promise<void> {
  const random = seeded(options.seed + 4)
  const { daemon, targets, tmux, socket } = field
  while (!signal.aborted) {
    await pause(400 + random() * 1500, signal)
    if (signal.aborted) return
    const { approvals } = await daemon.ask((client) => client.listApprovals({}))
    const open = new Set(approvals.map(({ session_id }) => session_id))
    for (const { id, tmuxSession } of targets) {
      const isShown = readPane(socket, tmuxSession, field).dialog?.kind === 'permission'
      if (!isShown && !open.has(id)) continue
      figures.answers += 1
      const ask = approvals.find(({ session_id }) => session_id === id)
      if (ask && random() < 0.5)
        await daemon
          .ask((client) => client.decideApproval({ id: ask.approval_id, verdict: 'allow' }))
          .catch(() => {})
      else if (isShown) {
        tmux('send-keys', '-t', `=${tmuxSession}:`, '-X', 'cancel')
        tmux('send-keys', '-t', `=${tmuxSession}:`, '1')
        await sleep(800)
        // The dialog was answered in the same moment: the key went into the box.
        const { composer } = readPane(socket, tmuxSession, field)
        if (composer.state === 'text' && composer.text === '1')
          tmux('send-keys', '-t', `=${tmuxSession}:`, 'BSpace')
      }
    }
  }
}
