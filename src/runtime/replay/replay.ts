import { findAgent } from '../../core/definitions/find-definition.ts'
import type { RunEnd } from '../agent-run.ts'
import { LiveRun } from '../live-run.ts'
import { ownPlan } from '../own-plan.ts'
import type { RuntimeParts } from '../parts.ts'
import type { Questions } from '../questions.ts'
import { Recorder } from '../recorder.ts'
import { WorkNotes } from '../tools/work-notes.ts'
import type { Difference } from './difference.ts'
import { loadRecord, type RecordRef } from './load-record.ts'
import { type ReplayWith, replayRun } from './replay-run.ts'
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
  const own = ownPlan({
    parts,
    run,
    depth,
    scopes,
    workspace,
    agents,
    questions,
    notes: new WorkNotes(),
    tell: async () => {},
    handOver: async () => undefined,
  })
  return { run, agents, tools: [...parts.tools, ...own.tools(nothing)] }
}

/** Only an end that the loop itself came to can be another. */
function otherEnd(recorded: RecordedEnd | undefined, end: RunEnd | undefined, step: number): Difference[] {
  const differs = (detail: string): Difference[] => [{ step, what: 'end', detail }]
  if (!end) return recorded?.status === 'completed' ? differs('it completed, and the replay breaks off') : []
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
    if (!told || end?.status !== 'completed' || told.text === end.text) return []
    // A long result is told without its middle.
    if (told.text.slice(0, 100) === end.text.slice(0, 100) && told.text.length < end.text.length) return []
    const step = parent.acts.filter(({ kind }) => kind === 'turn').length
    return [
      {
        step,
        what: 'answer',
        detail: `call ${record.callId} was told another result than ${record.agent} has`,
      },
    ]
  }
