import type { AgentDefinition } from '../../contract/agent-definition.ts'
import type { LoopMode } from '../../contract/values.ts'
import { findAgent } from '../../core/definitions/find-definition.ts'
import type { Denial } from '../../core/delegation/gate-call.ts'
import { ModelFailure, type ModelMessage } from '../../ports/model.ts'
import type { Tool } from '../../ports/tools.ts'
import type { AgentRun, RunDeps, RunEnd } from '../agent-run.ts'
import { LiveRun } from '../live-run.ts'
import type { Questions } from '../questions.ts'
import { Recorder } from '../recorder.ts'
import { notRun, runAgent, turnLimit } from '../run-agent.ts'
import type { RuntimeParts } from '../runtime-parts.ts'
import { runtimePlan } from '../runtime-plan.ts'
import { WorkNotes } from '../tools/runtime-tool.ts'
import { loadRecord, type RecordRef } from './load-record.ts'
import {
  type Difference,
  differenceOf,
  missingTools,
  RecordOver,
  recordedModel,
  recordedTool,
  Served,
} from './recorded.ts'
import type { RecordedEnd, RunRecord } from './run-record.ts'

/** A run that was replayed, and those that worked for it. */
export type Replay = {
  readonly record: RunRecord
  readonly turns: number
  readonly end: RunEnd | undefined
  readonly differences: readonly Difference[]
  readonly children: readonly Replay[]
}

type Deps = { readonly parts: RuntimeParts; readonly questions: Questions }

/** Runs a run and all below it again, offline, and says where it comes to something else. */
export async function replay(deps: Deps, which: RecordRef): Promise<Replay> {
  const { parts } = deps
  const record = await loadRecord(parts, which)
  const agents = await parts.agents(record.workspace, new AbortController().signal)
  const { turns, end, differences } = await replayRun(parts, record, replayWith(deps, record, agents))
  const children: Replay[] = []
  for (const runId of record.children) children.push(await replay(deps, { ...which, runId }))
  return {
    record,
    turns,
    end,
    children,
    differences: [
      ...differences,
      ...otherEnd(record.end, end, turns),
      ...children.flatMap(returnedTo(record)),
    ],
  }
}

/** The agent and the tools as they are now; nothing of the tools is ever run. */
function replayWith({ parts, questions }: Deps, record: RunRecord, agents: ReplayWith['agents']): ReplayWith {
  const { sessionId, runId, workspace, depth, scopes } = record
  const agent = findAgent(agents, record.agent)
  const spanId = parts.ids.span()
  const run = new LiveRun({
    root: { sessionId, runId, spanId, traceId: parts.ids.trace(), actor: agent.name },
    parentSpanId: spanId,
    agent,
    startedMs: parts.clock.now(),
  })
  const nothing = new Recorder({ perform: async () => {}, onFailure: () => {}, clock: parts.clock })
  const own = runtimePlan({
    parts,
    run,
    depth,
    scopes,
    workspace,
    agents,
    questions,
    notes: new WorkNotes(),
    talk: async () => {
      throw new Error('nothing is given to anybody in a replay')
    },
    tell: async () => {},
    handOver: async () => undefined,
  })
  return { run, agents, tools: [...parts.tools, ...own.tools(nothing)] }
}

/** Only an end that the loop itself came to can be another. */
function otherEnd(recorded: RecordedEnd | undefined, end: RunEnd | undefined, step: number): Difference[] {
  const differs = (detail: string): Difference[] => [{ step, what: 'end', detail }]
  if (!end) return recorded?.status === 'completed' ? differs('it completed, but the replay breaks off') : []
  if (recorded && recorded.status !== 'completed' && recorded.status !== 'failed') return []
  if (end.status !== recorded?.status)
    return differs(`the record has ${recorded?.status ?? 'no end'}, the replay ${end.status}`)
  return []
}

/** What a subagent came to is what its parent was told. */
const returnedTo =
  (parent: RunRecord) =>
  ({ record, end }: Replay): Difference[] => {
    const told = record.callId === undefined ? undefined : parent.calls.get(record.callId)?.answer
    // What its parent has to know besides is told behind its words.
    if (!told || end?.status !== 'completed' || told.text.startsWith(end.text)) return []
    // A long result is told without its middle.
    if (told.text.slice(0, 100) === end.text.slice(0, 100) && told.text.length < end.text.length) return []
    const step = parent.acts.filter(({ kind }) => kind === 'turn').length
    return [
      {
        step,
        what: 'answer',
        detail: `call ${record.callId} got another result than ${record.agent} gave`,
      },
    ]
  }

/** What came of a replay. */
type ReplayedRun = {
  /** How often the model was served. */
  readonly turns: number
  /** Its end, unless the record has none that the loop itself came to. */
  readonly end: RunEnd | undefined
  readonly differences: readonly Difference[]
}

/** What a run is replayed with: its agent and tools as they are now. */
type ReplayWith = {
  readonly run: LiveRun
  readonly agents: readonly AgentDefinition[]
  readonly tools: readonly Tool[]
}

/** Runs the loop again with the turns and the answers of a record, and compares what it makes of them. */
async function replayRun(
  parts: Pick<RuntimeParts, 'clock' | 'ids'>,
  record: RunRecord,
  given: ReplayWith,
): Promise<ReplayedRun> {
  const served = new Served(record)
  const differences: Difference[] = []
  const listed = given.run.agent.tools
  if (record.tools && !listed.includes('*') && isOther(record.tools, listed))
    differences.push({
      step: 0,
      what: 'agent',
      detail: `its agent file now lists other tools: ${listed.join(', ')}`,
    })
  let messages: ModelMessage[] = [...record.messages]
  let kept = record.kept
  for (;;) {
    const run = runOf({ record, served, given }, { messages, kept })
    let end: RunEnd | undefined
    try {
      end = await runAgent(depsOf(parts, { served, differences }), run)
    } catch (error) {
      if (error instanceof ModelFailure) end = { status: 'failed', reason: error.message }
      else if (!(error instanceof RecordOver)) throw error
    }
    const place = record.acts.findIndex(
      ({ kind, seq }) => kind === 'resumed' && seq >= (served.peek()?.seq ?? Infinity),
    )
    const next = record.acts[place + 1]
    if (end || place < 0 || next?.kind !== 'turn') return { turns: served.turns, end, differences }
    // It went on from what was kept, and what it was told of the rest.
    messages = [
      ...run.messages.filter(({ role }) => role !== 'system').slice(0, keptUntil(run.messages)),
      ...next.gained,
    ]
    kept = messages.length - next.gained.length
    served.startAt(place + 1)
  }
}

const keptUntil = (messages: readonly ModelMessage[]): number =>
  messages.findLastIndex(({ role }) => role === 'assistant') + 1

const isOther = (one: readonly string[], other: readonly string[]): boolean =>
  one.toSorted().join() !== other.toSorted().join()

type Replaying = { readonly record: RunRecord; readonly served: Served; readonly given: ReplayWith }

function runOf(
  { record, served, given }: Replaying,
  { messages, kept }: { readonly messages: ModelMessage[]; readonly kept: number },
): AgentRun {
  const { run, agents, tools } = given
  const known = new Set(tools.map(({ name }) => name))
  const all = [...tools, ...missingTools(record, known)]
  return {
    root: run.root,
    agent: run.agent,
    mode: modeOf(record),
    depth: record.depth,
    scopes: record.scopes,
    models: [recordedModel(served)],
    maxIters: mostTurns(record),
    workspace: record.workspace,
    tools: new Map(all.map((tool) => [tool.name, recordedTool(tool, served)])),
    agents: new Map(
      agents.flatMap((agent) => [agent.name, ...agent.aliases].map((name) => [name, agent] as const)),
    ),
    messages,
    kept,
    turns: served.turns,
    seen: new Map(),
    seenBefore: [],
    signal: run.signal,
  }
}

/** Only a turn with several calls tells them apart. */
function modeOf({ acts }: RunRecord): LoopMode {
  const told = acts.flatMap((act) => (act.kind === 'turn' ? act.gained : []))
  const isChat = told.some(
    (message) => message.role === 'tool' && message.answers.some(({ text }) => text === notRun),
  )
  return isChat ? 'chat' : 'auto'
}

/** Limits are settings, and may be others by now; the record says where they were met. */
const mostTurns = ({ acts, end }: RunRecord): number =>
  end?.reason?.endsWith(turnLimit) ? acts.filter(({ kind }) => kind === 'turn').length : Infinity

function depsOf(
  { clock, ids }: Pick<RuntimeParts, 'clock' | 'ids'>,
  { served, differences }: { readonly served: Served; readonly differences: Difference[] },
): RunDeps {
  const { record } = served
  const taken = new Set<number>()
  let looked = -1
  return {
    clock,
    newSpan: () => ids.span(),
    // Nothing is written; what would be kept is held against the record.
    record: (facts) => void (typeof facts === 'function' && facts()),
    durable: async () => {},
    async keep(value) {
      const found = differenceOf(served, value)
      if (found) differences.push(found)
      return 'replayed'
    },
    chance: () => 0,
    prices: { estimate: () => undefined },
    retry: { maxAttempts: 1, firstMs: 0, longestMs: 0 },
    async takeMessages() {
      const { turns } = served
      if (taken.has(turns)) return []
      taken.add(turns)
      return record.injected.get(turns) ?? []
    },
    onPiece: () => {},
    onStatus: () => {},
    output: () => ({ push() {}, end() {} }),
    onChanges: () => {},
    onTurn: () => {},
    onUsed: () => {},
    // Whatever its answer was told then, it is told now.
    refuse() {
      const next = served.peek()
      const last = next?.kind === 'turn' ? next.gained.at(-1) : undefined
      return last?.role === 'user' ? last.text : undefined
    },
    async spent() {
      const isAfterCalls = looked === served.turns
      looked = served.turns
      return spentIn(served, isAfterCalls)
    },
    async refusal({ callId }) {
      const denial = record.calls.get(callId)?.denial
      if (!denial) return undefined
      if (denial.gate !== 'approval' && denial.gate !== 'budget')
        differences.push({
          step: served.turns,
          what: 'gate',
          detail: `call ${callId} of ${denial.tool} was denied by the gate ${denial.gate}, and is now allowed`,
        })
      const told = served.told(callId)?.text.replace(/^Denied: /, '')
      const reason = typeof denial.reason === 'string' ? denial.reason : denial.reason.preview
      return { gate: 'approval', rule: denial.rule ?? '', reason: told ?? reason } satisfies Denial
    },
    resultChars: Infinity,
    compactAt() {
      const next = served.peek()
      return next?.kind === 'summary' && next.trigger === 'auto' ? 0 : Infinity
    },
  }
}

/** A budget that was used up ended it before the calls of its last turn, or before it asked for another. */
function spentIn(served: Served, isAfterCalls: boolean): string | undefined {
  const { acts, calls, end } = served.record
  if (served.peek() || end?.status !== 'failed') return undefined
  const last = acts.findLast((act) => act.kind === 'turn')
  const asked = last?.turn.parts.flatMap((part) => (part.kind === 'call' ? [part.callId] : [])) ?? []
  const isUntouched = asked.every((callId) => !calls.has(callId))
  return (isUntouched || isAfterCalls) && /token|minutes|budget/.test(end.reason ?? '')
    ? end.reason
    : undefined
}
