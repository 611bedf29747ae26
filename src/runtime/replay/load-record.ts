import { AppError } from '../../contract/errors.ts'
import type { AgentEvent } from '../../contract/event.ts'
import type { RunId, SessionId } from '../../contract/ids.ts'
import { readAssignment, scopeOf } from '../../core/delegation/assignment.ts'
import type { ModelMessage, ModelTurn, SaidPart } from '../../ports/model.ts'
import type { Compacted } from '../compact.ts'
import { loadHistory } from '../history.ts'
import type { KeptAnswer } from '../run-call.ts'
import type { RuntimeParts } from '../runtime-parts.ts'
import {
  previewed,
  type RecordedAct,
  type RecordedCall,
  type RecordedEnd,
  type RunRecord,
  words,
} from './run-record.ts'

const types = [
  'session.started',
  'agent.task.assigned',
  'agent.spawned',
  'message.queued',
  'message.accepted',
  'llm.request.completed',
  'llm.request.failed',
  'agent.message.created',
  'tool.call.started',
  'context.compacted',
  'decision.made',
  'tool.call.completed',
  'tool.call.failed',
  'tool.call.denied',
  'agent.completed',
  'agent.failed',
  'agent.cancelled',
  'agent.killed',
  'agent.abandoned',
] as const satisfies readonly AgentEvent['type'][]

/** Which run, and whether previews will do where the texts themselves are gone. */
export type RecordRef = {
  readonly sessionId: SessionId
  readonly runId: RunId
  readonly isInexact?: boolean | undefined
}

type Parts = Pick<RuntimeParts, 'events' | 'vault' | 'config'>

/** Reads what a run got from outside. Refused when some of it is no longer in the vault. */
export async function loadRecord(
  parts: Parts,
  { sessionId, runId, isInexact = false }: RecordRef,
): Promise<RunRecord> {
  const all: AgentEvent[] = []
  for await (const event of parts.events(sessionId, types)) all.push(event)
  const own = all.filter((event) => event.runId === runId)
  const spawned = own.find((event) => event.type === 'agent.spawned')
  if (!spawned || all[0]?.type !== 'session.started' || all[0].payload.origin !== 'runtime')
    throw new AppError('conflict', 'only runs of built-in agents can be replayed')
  const { agentId, depth = 0, triggeredByCallId, agentTask } = spawned.payload
  const { parentRunId } = spawned
  const parent = parentRunId && (await loadRecord(parts, { sessionId, runId: parentRunId, isInexact }))
  const asked = parent && promptOf(parent, triggeredByCallId)
  const task: ModelMessage = { role: 'user', text: asked?.prompt ?? words(agentTask) }
  return {
    runId,
    sessionId,
    agent: agentId,
    depth,
    isExact: !isInexact,
    callId: triggeredByCallId,
    workspace: all[0].payload.workingDir ?? '/',
    scopes: asked ? scopesOf(asked, { all, spawned }) : [],
    messages: [task],
    kept: 0,
    ...(isInexact
      ? previewed(own)
      : {
          ...(!parent && (await begun(parts, { all, spawned }))),
          acts: await actsOf(parts, own),
          calls: await callsOf(parts, own),
          injected: await injectedOf(parts, { all, own, from: spawned.seq }),
        }),
    tools: toolsOf(own),
    end: own.map(endOf).find((end) => end !== undefined),
    children: all.flatMap((event) =>
      event.type === 'agent.spawned' && event.parentRunId === runId ? [event.runId] : [],
    ),
  }
}

/** The entry; a replay is never made of anything else. */
async function kept(parts: Parts, name: string): Promise<unknown> {
  const bytes = await parts.vault.get(name)
  if (bytes) return JSON.parse(new TextDecoder().decode(bytes))
  const days = parts.config().vault.keep_days
  throw new AppError(
    'conflict',
    `its full text is gone: it is deleted ${days} days after the end of a session (vault.keep_days); --inexact replays it from the journal`,
  )
}

/** The conversation before a main run, and what began it. */
async function begun(
  parts: Parts,
  { all, spawned }: { readonly all: readonly AgentEvent[]; readonly spawned: AgentEvent },
): Promise<{ messages: ModelMessage[]; kept: number }> {
  const { sessionId, actor, runId, seq } = spawned
  const first = all.find((event) => event.type === 'message.accepted' && event.runId === runId)
  const history = await loadHistory(parts, { sessionId, agent: actor, before: first?.seq ?? seq })
  const prompts = all.filter(
    (event) => event.type === 'message.accepted' && event.runId === runId && event.seq < seq,
  )
  const said = await Promise.all(prompts.map((event) => textOf(parts, all, event)))
  const messages = said.map((text): ModelMessage => ({ role: 'user', text }))
  return { messages: [...history.messages, ...messages], kept: history.kept }
}

async function textOf(parts: Parts, all: readonly AgentEvent[], accepted: AgentEvent): Promise<string> {
  const id = accepted.type === 'message.accepted' ? accepted.payload.messageId : ''
  const queued = all.find((event) => event.type === 'message.queued' && event.payload.messageId === id)
  const name = queued?.type === 'message.queued' ? queued.payload.vault : undefined
  const bytes = name === undefined ? undefined : await parts.vault.get(name)
  return bytes ? new TextDecoder().decode(bytes) : ((await kept(parts, name ?? '')) as string)
}

function promptOf(parent: RunRecord, callId: string | undefined): { prompt: string; scope: string[] } {
  const parts = parent.acts.flatMap((act) => (act.kind === 'turn' ? act.turn.parts : []))
  const call = parts.find((part) => part.kind === 'call' && part.callId === callId)
  const input = (call?.kind === 'call' ? call.input : {}) as { prompt?: string; scope?: string[] }
  return { prompt: input.prompt ?? '', scope: input.scope ?? [] }
}

/** What limited the changes of a subagent; before inputs were recorded, the scope inside of one was none. */
function scopesOf(
  { prompt, scope }: ReturnType<typeof promptOf>,
  { all, spawned }: { readonly all: readonly AgentEvent[]; readonly spawned: AgentEvent },
): (readonly string[])[] {
  const assigned = all.find(
    (event) => event.type === 'agent.task.assigned' && event.spanId === spawned.parentSpanId,
  )
  const isRead = assigned?.type === 'agent.task.assigned' && assigned.payload.input !== undefined
  const read = isRead ? readAssignment(prompt, { role: spawned.actor, taskId: '' }) : undefined
  const inside = read && 'value' in read ? scopeOf(read.value) : undefined
  return [scope, inside ?? []].filter((globs) => globs.length > 0)
}

async function actsOf(parts: Parts, own: readonly AgentEvent[]): Promise<RecordedAct[]> {
  const acts: RecordedAct[] = []
  for (const [i, event] of own.entries()) {
    const { seq } = event
    if (event.type === 'llm.request.completed') {
      const { vault } = event.payload
      if (vault !== undefined) {
        const entry = (await kept(parts, vault)) as ModelMessage[]
        const said = entry.at(-1)
        const turn = turnOf(event, said?.role === 'assistant' ? said.parts : [])
        acts.push({ kind: 'turn', seq, gained: entry.slice(0, -1), turn })
        continue
      }
      const next = own.slice(i).find((one) => one.type === 'context.compacted')
      if (next?.type !== 'context.compacted' || next.payload.vault === undefined) continue
      const compacted = (await kept(parts, next.payload.vault)) as Compacted
      const trigger = next.payload.trigger === 'limit' ? 'limit' : 'auto'
      if (trigger === 'limit') acts.push({ kind: 'failure', seq, error: 'it was too long', isTooLong: true })
      acts.push({ kind: 'summary', seq, turn: turnOf(event, compacted.said), compacted, trigger })
    } else if (event.type === 'decision.made' && event.payload.subject === 'retry')
      acts.push({ kind: 'resumed', seq })
  }
  const last = own.findLast(({ type }) => type.startsWith('llm.'))
  const end = own.find((event) => event.type === 'agent.failed')
  const isOver = last?.type === 'llm.request.failed' && end?.type === 'agent.failed' && end.payload.error
  if (isOver && words(end.payload.error) === words(last.payload.error))
    acts.push({ kind: 'failure', seq: last.seq, error: words(last.payload.error), isTooLong: false })
  return acts
}

function turnOf(
  { payload }: Extract<AgentEvent, { type: 'llm.request.completed' }>,
  parts: readonly SaidPart[],
): ModelTurn {
  const { responseId, usage, finishReason } = payload
  return { responseId, usage, parts, finish: (finishReason ?? 'other') as ModelTurn['finish'] }
}

async function callsOf(parts: Parts, own: readonly AgentEvent[]): Promise<Map<string, RecordedCall>> {
  const calls = new Map<string, RecordedCall>()
  for (const event of own) {
    if (event.type === 'tool.call.denied') calls.set(event.payload.callId, { denial: event.payload })
    if (event.type !== 'tool.call.completed' && event.type !== 'tool.call.failed') continue
    const { callId, vault } = event.payload
    if (vault !== undefined) calls.set(callId, { answer: (await kept(parts, vault)) as KeptAnswer })
  }
  return calls
}

async function injectedOf(
  parts: Parts,
  {
    all,
    own,
    from,
  }: { readonly all: readonly AgentEvent[]; readonly own: readonly AgentEvent[]; readonly from: number },
): Promise<Map<number, string[]>> {
  const injected = new Map<number, string[]>()
  let turns = 0
  for (const event of own) {
    if (event.type === 'llm.request.completed' && event.payload.vault !== undefined) turns += 1
    if (event.type !== 'message.accepted' || event.seq < from) continue
    injected.set(turns, [...(injected.get(turns) ?? []), await textOf(parts, all, event)])
  }
  return injected
}

function toolsOf(own: readonly AgentEvent[]): string[] | undefined {
  const made = own.find((event) => event.type === 'decision.made' && event.payload.subject === 'tool')
  return made?.type === 'decision.made' ? made.payload.candidates.map(String) : undefined
}

function endOf(event: AgentEvent): RecordedEnd | undefined {
  switch (event.type) {
    case 'agent.completed':
    case 'agent.failed':
    case 'agent.cancelled':
    case 'agent.killed':
    case 'agent.abandoned':
      return {
        seq: event.seq,
        status: event.type.slice('agent.'.length) as RecordedEnd['status'],
        reason: event.payload.reason,
      }
    default:
      return undefined
  }
}
