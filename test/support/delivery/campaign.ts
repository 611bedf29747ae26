import { setTimeout as sleep } from 'node:timers/promises'
import { seeded } from '../random.ts'
import { type campaignDaemon, pasteBegins } from './campaign-daemon.ts'
import { compare, type Ended, type Findings, type Taken } from './check.ts'
import { type Person, readPane, sitDown, writeDraft } from './person.ts'
import { type Mode, type Planned, planMessages } from './plan.ts'

/** One session that messages go to, and what its program says that it took. */
export type Target = {
  readonly id: string
  readonly tmuxSession: string
  readonly taken: () => readonly Taken[]
}

/** Where a campaign is fought: real sessions of a real daemon on a tmux server of its own. */
export type Field = {
  readonly home: string
  readonly socket: string
  readonly tmux: (...args: string[]) => string
  readonly daemon: Awaited<ReturnType<typeof campaignDaemon>>
  readonly targets: readonly Target[]
  readonly version: string
  readonly same: (taken: Taken, text: string) => boolean
  /** A message as it is sent; the real CLI gets its script with it. */
  readonly dressed?: (planned: Planned, n: number) => string
}

export type CampaignOptions = {
  readonly messages: number
  readonly seed: number
  readonly kills: number
  /** How often a person comes, on average. */
  readonly personEveryMs: number
  readonly say?: (line: string) => void
}

/** Without a change for so long the rest is stuck, and that is a finding. */
const stuckMs = 150_000
const heardMs = 20_000

export type Figures = {
  messages: number
  accepted: number
  refused: string[]
  faults: string[]
  kills: number
  killsWithinPaste: number
  drafts: Record<string, number>
  copyModes: number
  answers: number
  seconds: number
}

/** Sends, kills, types and scrolls all at once; then holds what the programs took against what was sent. */
export async function campaign(field: Field, options: CampaignOptions): Promise<Figures> {
  const started = performance.now()
  const over = new AbortController()
  const drafts = new Set<string>()
  const figures: Figures = {
    messages: 0,
    accepted: 0,
    refused: [],
    faults: [],
    kills: 0,
    killsWithinPaste: 0,
    drafts: {},
    copyModes: 0,
    answers: 0,
    seconds: 0,
  }
  const troubles = [
    killing(field, { options, figures, signal: over.signal }),
    visiting(field, { options, figures, drafts, signal: over.signal }),
    scrolling(field, { options, figures, signal: over.signal }),
    answering(field, { options, figures, signal: over.signal }),
  ]
  const sent = await sending(field, options)
  // What is still under way when the last was sent is brought to its end in peace and quiet or not at all.
  const ended = await settled(field, sent, options)
  over.abort()
  await Promise.all(troubles)
  for (const [i, target] of field.targets.entries()) {
    const found = await compared(field, { target, ended: ended[i] ?? [], drafts })
    figures.messages += ended[i]?.length ?? 0
    figures.accepted += found.accepted
    figures.refused.push(...found.refused)
    figures.faults.push(...found.faults.map((fault) => `session ${i} (${target.id}): ${fault}`))
  }
  figures.seconds = Math.round((performance.now() - started) / 1000)
  return figures
}

type Comparing = {
  readonly target: Target
  readonly ended: readonly Ended[]
  readonly drafts: ReadonlySet<string>
}

/** What a program took it tells its model a moment later; what it has not told by then is lost. */
async function compared(field: Field, { target, ended, drafts }: Comparing): Promise<Findings> {
  const until = performance.now() + heardMs
  for (;;) {
    const found = compare(ended, target.taken(), { drafts, same: field.same })
    if (found.faults.length === 0 || performance.now() > until) return found
    await sleep(500)
  }
}

type Sent = { readonly text: string; readonly mode: Mode; readonly messageId: string }

/** Sends each message once, whether or not the daemon lived to answer. */
async function sending(field: Field, { messages, seed, say }: CampaignOptions): Promise<Sent[][]> {
  const { daemon, targets } = field
  const sent: Sent[][] = targets.map(() => [])
  const planned = planMessages(messages, seed, targets.length)
  const listed = async (id: string) =>
    (await daemon.ask((client) => client.listMessages({ id, limit: 1000 }))).messages
  // The prompt that a session was started with is a message too, and none of these.
  const earlier = new Set<string>()
  for (const { id } of targets) for (const { message_id } of await listed(id)) earlier.add(message_id)
  for (const [n, one] of planned.entries()) {
    await sleep(one.afterMs)
    const text = field.dressed?.(one, n) ?? one.text
    for (const i of one.targets) {
      const { id } = targets[i] as Target
      const list = sent[i] as Sent[]
      const found = async () =>
        (await listed(id)).find(
          ({ message_id }) =>
            !earlier.has(message_id) && !list.some(({ messageId }) => messageId === message_id),
        )
      const { message_id } = await daemon.ask(
        (client) => client.sendMessage({ id, text, mode: one.mode }, { timeoutMs: 20_000 }),
        found,
      )
      list.push({ text, mode: one.mode, messageId: message_id })
    }
    if (n % 50 === 49) say?.(`${n + 1} sent`)
  }
  return sent
}

async function settled(field: Field, sent: readonly Sent[][], options: CampaignOptions): Promise<Ended[][]> {
  const all = () =>
    Promise.all(
      field.targets.map(async ({ id }, i) => {
        const { messages } = await field.daemon.ask((client) => client.listMessages({ id, limit: 1000 }))
        const byId = new Map(messages.map((one) => [one.message_id, one]))
        return (sent[i] ?? []).map(({ text, mode, messageId }): Ended => {
          const found = byId.get(messageId)
          return { text, mode, state: found?.state ?? 'unknown', detail: found?.detail ?? null }
        })
      }),
    )
  const open = (found: readonly Ended[][]) =>
    found.flat().filter(({ state }) => !['accepted', 'answered', 'failed'].includes(state)).length
  let last = Number.POSITIVE_INFINITY
  let changedAt = performance.now()
  for (;;) {
    const found = await all()
    const left = open(found)
    if (left !== last) [last, changedAt] = [left, performance.now()]
    if (left === 0) return found
    if (performance.now() - changedAt > stuckMs) {
      for (const [i, target] of field.targets.entries())
        if (open([found[i] ?? []]) > 0) options.say?.(`session ${i} is stuck at:\n${screenOf(field, target)}`)
      return found
    }
    options.say?.(`${left} under way`)
    await sleep(1000)
  }
}

const screenOf = ({ tmux }: Field, { tmuxSession }: Target): string =>
  tmux('capture-pane', '-p', '-t', `=${tmuxSession}:`).replaceAll(/\n+/g, '\n')

type Trouble = {
  readonly options: CampaignOptions
  readonly figures: Figures
  readonly signal: AbortSignal
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

async function visiting(
  { socket, targets, version }: Field,
  { options, figures, drafts, signal }: Trouble & { readonly drafts: Set<string> },
): Promise<void> {
  const random = seeded(options.seed + 2)
  for (let n = 0; !signal.aborted; n++) {
    await pause(random() * options.personEveryMs * 2, signal)
    if (signal.aborted) return
    const target = targets[Math.floor(random() * targets.length)] as Target
    const draft = `draft-${n} half a thought of a person`
    drafts.add(draft)
    const person: Person = await sitDown(socket, target.tmuxSession, version)
    const { end, seen } = await writeDraft(person, draft, {
      thinkMs: random() * 3000,
      isSent: random() < 0.5,
    })
    figures.drafts[end] = (figures.drafts[end] ?? 0) + 1
    if (seen !== undefined) options.say?.(`${draft} was mixed: ${JSON.stringify(seen.slice(0, 200))}`)
    person.leave()
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
  const { daemon, targets, tmux, socket, version } = field
  while (!signal.aborted) {
    await pause(400 + random() * 1500, signal)
    if (signal.aborted) return
    const { approvals } = await daemon.ask((client) => client.listApprovals({}))
    const open = new Set(approvals.map(({ session_id }) => session_id))
    for (const { id, tmuxSession } of targets) {
      const isShown = readPane(socket, tmuxSession, version).dialog?.kind === 'permission'
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
        const { composer } = readPane(socket, tmuxSession, version)
        if (composer.state === 'text' && composer.text === '1')
          tmux('send-keys', '-t', `=${tmuxSession}:`, 'BSpace')
      }
    }
  }
}
