import { setTimeout as sleep } from 'node:timers/promises'
import type { Dialect } from '../../../src/ports/agent-cli.ts'
import { slowdown } from '../slowdown.ts'
import { late, type Slow, type Step, type Visit } from './bounds.ts'
import type { campaignDaemon } from './campaign-daemon.ts'
import { compare, type Ended, type Findings, inOneLine, type Taken } from './check.ts'
import { type Mode, type Planned, type PlanOptions, planMessages, type Sizes } from './plan.ts'
import { type SentDraft, troubles } from './troubles.ts'

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
  readonly dialect: Dialect
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
  /** Of every kind and mode, or of every length and no mode. */
  readonly sizes?: Sizes
  readonly edges?: PlanOptions['edges']
  readonly say?: (line: string) => void
}

/** No message is under way for longer than ten minutes: without a change for this the rest is stuck, and that is a finding. */
const stuckMs = 660_000
const heardMs = 20_000
const everyMs = 20_000

export type Figures = {
  messages: number
  /** Whole and once. */
  accepted: number
  /** Dead letters, each with the reason that was told. */
  refused: string[]
  /** Messages that took longer than their bound. */
  late: number
  /** The longest that a message took when it had its turn, with people at the box or not. */
  longestSeconds: number
  /** Of the characters that people typed, those that went by no doing of theirs. */
  typed: number
  lost: number
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
  const sentDrafts: SentDraft[] = []
  const visits = new Map<Target, Visit[]>(field.targets.map((target) => [target, []]))
  const slow = machineSpeed(over.signal)
  const figures: Figures = {
    messages: 0,
    accepted: 0,
    refused: [],
    late: 0,
    longestSeconds: 0,
    typed: 0,
    lost: 0,
    faults: [],
    kills: 0,
    killsWithinPaste: 0,
    drafts: {},
    copyModes: 0,
    answers: 0,
    seconds: 0,
  }
  const disturbed = troubles(field, { options, figures, drafts, sentDrafts, visits, signal: over.signal })
  const sent = await sending(field, options)
  // What is still under way when the last was sent is brought to its end in peace and quiet or not at all.
  const ended = await settled(field, sent, options)
  over.abort()
  await disturbed
  for (const [i, target] of field.targets.entries()) {
    const found = await compared(field, { target, ended: ended[i] ?? [], drafts })
    figures.messages += ended[i]?.length ?? 0
    figures.accepted += found.accepted
    figures.refused.push(...found.refused)
    figures.faults.push(...found.faults.map((fault) => `session ${i} (${target.id}): ${fault}`))
    // Among dialogs, kills and slow turns a message may wait for as long as those do.
    if (options.sizes !== 'lengths') continue
    const times = late(await stepsOf(field, target, sent[i] ?? []), {
      visits: visits.get(target) ?? [],
      slow,
      nowMs: Date.now(),
    })
    figures.late += new Set(times.late.map(({ messageId }) => messageId)).size
    figures.longestSeconds = Math.max(figures.longestSeconds, Math.round(times.longestMs / 1000))
    figures.faults.push(...times.late.map(({ messageId, why }) => `late: ${messageId} ${why}`))
  }
  for (const sent of sentDrafts)
    if (!(await isHeard(sent))) {
      figures.lost += sent.draft.length
      figures.faults.push(`a person sent it, and it did not arrive: ${sent.draft}`)
    }
  figures.seconds = Math.round((performance.now() - started) / 1000)
  return figures
}

/** Looks at the machine again and again, this campaign's own work included. */
function machineSpeed(signal: AbortSignal): Slow {
  const looks: { readonly atMs: number; readonly slow: number }[] = []
  const look = () => looks.push({ atMs: Date.now(), slow: slowdown() })
  look()
  const timer = setInterval(look, everyMs)
  signal.addEventListener('abort', () => clearInterval(timer), { once: true })
  return (fromMs, toMs) =>
    Math.max(
      1,
      ...looks.filter(({ atMs }) => atMs > fromMs - everyMs && atMs < toMs + everyMs).map(({ slow }) => slow),
    )
}

/** When each message was queued, first typed, and had its end. */
async function stepsOf({ daemon }: Field, { id }: Target, sent: readonly Sent[]): Promise<Step[]> {
  const kinds = {
    'message.queued': 'queued',
    'message.delivered': 'typed',
    'message.accepted': 'ended',
    'message.failed': 'ended',
  } as const
  const own = new Set(sent.map(({ messageId }) => messageId))
  const steps: Step[] = []
  for (let after = 0; ; ) {
    const { events } = await daemon.ask((client) =>
      client.listEvents({ session: id, type: Object.keys(kinds).join(','), after, limit: 1000 }),
    )
    for (const { type, timestamp, payload } of events) {
      const { messageId } = payload as { messageId: string }
      if (own.has(messageId))
        steps.push({ messageId, step: kinds[type as keyof typeof kinds], atMs: Date.parse(timestamp) })
    }
    const last = events.at(-1)
    if (!last) return steps
    after = last.seq
  }
}

async function isHeard({ draft, target }: SentDraft): Promise<boolean> {
  const until = performance.now() + heardMs
  for (;;) {
    if (target.taken().some(({ text }) => inOneLine(text).includes(inOneLine(draft)))) return true
    if (performance.now() > until) return false
    await sleep(500)
  }
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
async function sending(
  field: Field,
  { messages, seed, sizes, edges, say }: CampaignOptions,
): Promise<Sent[][]> {
  const { daemon, targets } = field
  const sent: Sent[][] = targets.map(() => [])
  const planned = planMessages(messages, seed, { sessions: targets.length, sizes, edges })
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
