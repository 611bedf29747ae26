import { Capability } from '../../contract/agent-definition.ts'
import type { AgentCliName } from '../../contract/config/names.ts'
import type { GateAnswer } from '../../contract/decision.ts'
import { AppError } from '../../contract/errors.ts'
import { type Foreign, foreign } from '../../contract/formats/foreign-json.ts'
import type { Signal, SignalKind, SignalOf } from '../../contract/signal.ts'
import { canonicalTool } from '../../core/delegation/allowed-tools.ts'
import { type Act, gateForeignCall } from '../../core/delegation/gate-call.ts'
import { shellWrites } from '../../core/delegation/shell-writes.ts'
import type { Managed } from '../../core/session/managed.ts'
import { firstOverBudget } from '../../core/session/session-tree.ts'
import type { Dialect, HookReply } from '../../ports/agent-cli.ts'
import type { Approvals } from './approvals.ts'
import { draftOf } from './drafts.ts'
import type { Parts } from './session-parts.ts'
import type { Refusal } from './session-turns.ts'
import type { Origin } from './session-watch.ts'
import type { Live } from './sessions.ts'

type Answering = { readonly parts: Parts; readonly live: Live; readonly approvals: Approvals }

/** Takes what a hook reports, and answers it: with a verdict when it asks for one, else with nothing. */
export async function answerHook(
  { parts, live, approvals }: Answering,
  { cli, payload, at }: { cli: AgentCliName; payload: unknown; at: number },
  gone: AbortSignal,
): Promise<HookReply> {
  const { dialect } = parts.clis[cli]
  const signals = dialect.hook(payload, at)
  const starting = find(signals, 'tool-start')
  const gate = starting && (await gateOf(parts, live, starting))
  if (starting && gate && !gate.allowed) {
    await live.watch.deny(starting, gate)
    return dialect.gate(payload, gate)
  }
  // The end of a turn ends what is open in it: what the record says of that comes first.
  if (find(signals, 'turn-end') && dialect.recordsEnds)
    await live.transcript.answered(gone).catch(unless(gone))
  else if (find(signals, 'turn-end') || find(signals, 'turn-failed')) await live.transcript.settled()
  const signal = find(signals, 'asking')
  const asking = signal && { watch: live.watch, signal }
  const passes = asking && approvals.passes(asking)
  // What needs no answer of anybody makes nobody wait.
  const taken = passes ? signals.filter((one) => one !== signal) : signals
  await live.watch.take(taken, originOf(live, payload))
  live.transcript.poke()
  if (asking && dialect.decision(payload, { verdict: 'deny' }) !== undefined) {
    const decision = await approvals.ask(asking, gone)
    return (decision && dialect.decision(payload, decision)) ?? dialect.nothing
  }
  // A hook that cannot carry an answer only says that its CLI asks, and the CLI waits for it to end. What it does not
  // say what about was told by another hook before, or is read from the screen.
  if (asking && saysWhat(asking.signal) && dialect.answerKeys) approvals.askByKeys(asking)
  if (gate) return dialect.gate(payload, gate)
  return (await inject({ parts, live, approvals }, dialect, payload)) ?? dialect.nothing
}

/** Whoever told of the end may hang up; it is the end all the same. */
const unless = (gone: AbortSignal) => (error: unknown) => {
  if (!gone.aborted) throw error
}

const saysWhat = ({ tool, input, questions }: SignalOf<'asking'>): boolean =>
  [tool, input, questions].some((about) => about !== undefined)

const draftsAtMost = 100

/** A plugin of ours sends what it tells again when it got no answer; each telling has its number. */
function originOf({ watch }: Live, payload: unknown): Origin {
  const { epoch, n } = foreign(payload)
  const isNumbered = typeof n === 'number' && n > 0 && Number.isSafeInteger(n * draftsAtMost)
  if (typeof epoch !== 'string' || !/^\w{1,40}$/.test(epoch) || !isNumbered) return { via: 'hook' }
  return { via: 'hook', told: { producer: `plugin:${watch.id}:${epoch}`, n: n * draftsAtMost } }
}

/** CLIs cut what a hook says beyond some 10,000 characters and put the rest into a file; a longer text is typed. */
const mostInjected = 8000

/** A message for the next boundary reaches a busy agent through its own hook: no key is pressed. */
async function inject(
  { parts, live }: Answering,
  dialect: Dialect,
  payload: unknown,
): Promise<HookReply | undefined> {
  const { watch } = live
  const queue = watch.state()?.queue ?? []
  const waiting = queue.find(
    ({ mode, stage, by }) => mode === 'important' && stage === 'queued' && by === 'terminal',
  )
  // The hook may be that of a message which is just being typed, or follow one whose answer was lost: nothing overtakes it.
  const isUnderway = queue.some(({ stage }) => stage !== 'queued')
  if (!waiting?.vault || isUnderway || dialect.inject(payload, '') === undefined) return undefined
  const bytes = await parts.vault.get(waiting.vault)
  const reply =
    bytes && bytes.length <= mostInjected && dialect.inject(payload, new TextDecoder().decode(bytes))
  if (!reply) return undefined
  const { messageId, spanId } = waiting
  const root = watch.root
  const delivered = draftOf({ ...root, spanId }, 'message.delivered', { messageId, stage: 'injected' })
  // Where the record shows it, only that is a receipt: nobody knows whether this answer arrives.
  const accepted = draftOf({ ...root, spanId }, 'message.accepted', { messageId, proof: 'hook' })
  try {
    await parts.engine.perform(dialect.recordsInjected ? [delivered] : [delivered, accepted], () => {
      const now = watch.state()?.queue?.find((one) => one.messageId === messageId)
      if (now?.stage !== 'queued') throw new AppError('conflict', `${messageId} is already being delivered`)
    })
  } catch (error) {
    // It is being typed since; given here as well, it would come twice.
    if (error instanceof AppError && error.code === 'conflict') return undefined
    throw error
  }
  return reply
}

type Gate = (Refusal & { readonly allowed: false }) | Extract<GateAnswer, { allowed: true }>

/** The boundary between two tools is where a used-up budget stops a turn; else the role decides. */
async function gateOf(
  parts: Parts,
  { watch }: Live,
  call: SignalOf<'tool-start'>,
): Promise<Gate | undefined> {
  const state = watch.state()
  const holder = state && firstOverBudget(state, (id) => parts.engine.session(id))
  if (holder)
    return {
      allowed: false,
      by: 'budget',
      reason: `the budget of ${holder.managed?.name ?? 'this session'} is used up; stop here and wait until somebody raises it`,
    }
  const managed = state?.managed
  // Without a role nothing is limited.
  if (!managed || (!managed.tools && !managed.policy && !managed.scope)) return undefined
  const { name, tools = ['*'], policy, workGlobs = [], scope } = managed
  const agent = {
    name,
    kind: 'main' as const,
    tools,
    policy: { allow: policy ?? Capability.options, delegateTargets: 'any' as const },
    workGlobs,
  }
  const denial = gateForeignCall(
    { agent, depth: 0, scopes: scope ? [scope] : [] },
    await actOf(parts, managed, call),
  )
  return denial
    ? { allowed: false, by: denial.gate, rule: denial.rule, reason: denial.reason }
    : { allowed: true }
}

/** What a call would do, as far as its input tells. */
async function actOf(
  parts: Parts,
  { workingDir, scope }: Managed,
  { tool, input }: SignalOf<'tool-start'>,
): Promise<Act> {
  const given = foreign(input)
  // What is typed into a program that runs is a command too.
  const command = given['command'] ?? (given['chars'] || undefined)
  const isText = typeof command === 'string'
  const isShell = canonicalTool(tool) === 'Bash'
  const changed = isShell ? (scope && isText ? shellWrites(command) : []) : changedBy(tool, given)
  const inside = changed.map((path) => parts.workspace.inside(workingDir, path))
  return { tool, changes: await Promise.all(inside), ...(isShell && isText && { command }) }
}

/** A patch of Codex names its files in lines of its own. */
const patched = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm

function changedBy(tool: string, given: Foreign): readonly string[] {
  if (!['Write', 'Edit'].includes(canonicalTool(tool))) return []
  const path = given['file_path'] ?? given['filePath'] ?? given['notebook_path'] ?? given['path']
  if (typeof path === 'string') return [path]
  const texts = Object.values(given).filter((value) => typeof value === 'string')
  return texts.flatMap((text) => Array.from(text.matchAll(patched), ([, file = '']) => file.trim()))
}

const find = <K extends SignalKind>(signals: readonly Signal[], kind: K): SignalOf<K> | undefined =>
  signals.find((signal): signal is SignalOf<K> => signal.kind === kind)
