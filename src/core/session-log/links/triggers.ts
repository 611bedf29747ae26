import type { ToolCall } from '../../../contract/formats/std-001/tool-call.ts'
import { delegationTools } from '../../../contract/formats/std-008/delegation.ts'
import type { MultiAgentSession } from '../../../contract/formats/std-008/session.ts'
import type { SubAgentSession } from '../../../contract/formats/std-008/sub-session.ts'
import { at, type Place, root } from '../json/pointer.ts'
import { millisOf } from '../json/time.ts'
import { compact } from '../json/value.ts'
import { openOutput } from '../rebuild/tool-call.ts'
import type { RepairLog } from '../repair/log.ts'
import { freeNames } from './free-names.ts'

/** The calls of one owner, by id, with those that delegate and are still free. */
type Calls = {
  readonly list: ToolCall[]
  readonly place: Place
  readonly byId: Map<string, ToolCall>
  readonly bySub: Map<string, ToolCall>
  readonly free: ToolCall[]
  readonly made: ToolCall[]
  readonly names: (wanted: string) => string
}

/** Gives every sub-session a delegating call of its parent that started it. */
export function mendTriggers(session: MultiAgentSession, log: RepairLog): void {
  const owners = callsByOwner(session)
  session.sub_sessions.forEach((sub, i) => {
    const calls = owners.get(sub.parent_session_id)
    if (!calls) return
    const place = at(at(at(root, 'sub_sessions'), i), 'triggered_by_call_id')
    const named = calls.byId.get(sub.triggered_by_call_id)
    if (named) {
      if (!delegationTools.has(named.tool_name)) makeDelegation(named, place, log)
      return
    }
    const found = calls.bySub.get(sub.sub_session_id) ?? takeFree(calls, sub) ?? madeCall(calls, sub, log)
    const before = sub.triggered_by_call_id as string | undefined
    if (before) (sub as Record<string, unknown>)['original_triggered_by_call_id'] ??= before
    sub.triggered_by_call_id = found.call_id
    log(place, 'linked', `call ${found.call_id} is read as the one that started it`)
  })
  for (const calls of owners.values()) insertMade(calls)
}

function callsByOwner(session: MultiAgentSession): Map<string, Calls> {
  const started = new Set(
    session.sub_sessions.map((sub) => `${sub.parent_session_id}\n${sub.triggered_by_call_id}`),
  )
  const owners = new Map<string, Calls>()
  const add = (id: string, list: ToolCall[], place: Place) => {
    if (owners.has(id)) return
    const delegating = list.filter((call) => delegationTools.has(call.tool_name))
    const named = delegating.flatMap((call) => {
      const sub = call.subagent_info?.sub_session_id
      return sub === undefined ? [] : [[sub, call] as const]
    })
    owners.set(id, {
      list,
      place,
      byId: new Map(list.map((call) => [call.call_id, call])),
      bySub: new Map(named),
      made: [],
      names: freeNames(list.map((call) => call.call_id)),
      free: delegating.filter(
        (call) => call.subagent_info?.sub_session_id === undefined && !started.has(`${id}\n${call.call_id}`),
      ),
    })
  }
  add(session.session_id, session.tool_calls, at(root, 'tool_calls'))
  session.sub_sessions.forEach((sub, i) =>
    add(sub.sub_session_id, sub.tool_calls, at(at(at(root, 'sub_sessions'), i), 'tool_calls')),
  )
  return owners
}

/** The first free delegating call that was running when the sub-session began; only the next few are looked at. */
function takeFree({ free }: Calls, sub: SubAgentSession): ToolCall | undefined {
  const start = millisOf(sub.started_at)
  const position = free
    .slice(0, 200)
    .findIndex((call) => millisOf(call.started_at) <= start && millisOf(call.ended_at) >= start)
  return position === -1 ? undefined : free.splice(position, 1)[0]
}

function makeDelegation(call: ToolCall, place: Place, log: RepairLog): void {
  log(
    place,
    'translated',
    `call ${call.call_id} (${call.tool_name}) started a sub-session; it is read as Task`,
  )
  call.original_tool_name ??= call.tool_name
  call.tool_name = 'Task'
  call.tool_category = 'interaction'
}

function madeCall(calls: Calls, sub: SubAgentSession, log: RepairLog): ToolCall {
  const call = delegatingCall(sub, calls.names(`task-${sub.sub_session_id}`))
  calls.made.push(call)
  calls.byId.set(call.call_id, call)
  log(
    calls.place,
    'made',
    `call ${call.call_id} is put in: something must have started ${sub.sub_session_id}`,
  )
  return call
}

/** Puts the calls that were made among the others, each before the first that started later. */
function insertMade({ list, made }: Calls): void {
  if (made.length === 0) return
  const waiting = made.toSorted((a, b) => millisOf(a.started_at) - millisOf(b.started_at))
  const before = list.splice(0)
  let next = 0
  for (const call of before) {
    const start = millisOf(call.started_at)
    for (let made = waiting[next]; made && millisOf(made.started_at) < start; made = waiting[next]) {
      list.push(made)
      next += 1
    }
    list.push(call)
  }
  for (const made of waiting.slice(next)) list.push(made)
}

/** The Task call that must have started a sub-session, made from what the sub-session says. */
export function delegatingCall(sub: SubAgentSession, callId: string): ToolCall {
  const end = sub.completed_at ?? sub.tool_calls.at(-1)?.ended_at ?? sub.started_at
  const ended = millisOf(end) < millisOf(sub.started_at) ? sub.started_at : end
  const type = sub.agent.original_agent_type ?? sub.agent.agent_type
  return compact({
    call_id: callId,
    tool_name: 'Task',
    tool_category: 'interaction' as const,
    started_at: sub.started_at,
    ended_at: ended,
    duration_ms: millisOf(ended) - millisOf(sub.started_at),
    input: { params: { subagent_type: type, prompt: sub.task.description } },
    output: outputOf(sub),
    subagent_info: {
      subagent_type: type,
      sub_session_id: sub.sub_session_id,
      tool_uses: sub.tool_calls.length,
    },
    open: sub.status === 'in_progress' ? true : undefined,
  })
}

function outputOf({ status }: SubAgentSession): ToolCall['output'] {
  return status === 'in_progress' ? { ...openOutput } : { status }
}
