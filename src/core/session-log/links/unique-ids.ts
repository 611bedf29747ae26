import type { AgentSession } from '../../../contract/formats/std-001/session.ts'
import type { MultiAgentSession } from '../../../contract/formats/std-008/session.ts'
import { at, type Place, root } from '../json/pointer.ts'
import type { RepairLog } from '../repair/log.ts'
import { freeNames } from './free-names.ts'

type Renamable = { readonly items: readonly object[]; readonly key: string; readonly place: Place }

/** Gives a later record whose id is taken a new one, and keeps the old one beside. */
export function uniqueIds(session: MultiAgentSession, log: RepairLog): void {
  const subs = at(root, 'sub_sessions')
  participants(session, log)
  uniqueCallIds(session, log)
  rename({ items: session.sub_sessions, key: 'sub_session_id', place: subs }, [session.session_id], log)
  rename({ items: session.messages, key: 'message_id', place: at(root, 'messages') }, [], log)
  session.sub_sessions.forEach((sub, i) => {
    const place = at(subs, i)
    rename({ items: sub.tool_calls, key: 'call_id', place: at(place, 'tool_calls') }, [], log)
    if (sub.output && 'findings' in sub.output) {
      const findings = at(at(place, 'output'), 'findings')
      rename({ items: sub.output.findings, key: 'finding_id', place: findings }, [], log)
    }
  })
}

export function uniqueCallIds(session: AgentSession, log: RepairLog): void {
  rename({ items: session.tool_calls, key: 'call_id', place: at(root, 'tool_calls') }, [], log)
}

export function uniqueAnnotationIds(session: Pick<AgentSession, 'phase_annotations'>, log: RepairLog): void {
  const items = session.phase_annotations ?? []
  rename({ items, key: 'annotation_id', place: at(root, 'phase_annotations') }, [], log)
}

function rename({ items, key, place }: Renamable, taken: readonly string[], log: RepairLog): void {
  const records = items as readonly Record<string, unknown>[]
  const free = freeNames([...taken, ...records.map((record) => String(record[key]))])
  const seen = new Set(taken)
  records.forEach((record, i) => {
    const id = String(record[key])
    if (!seen.has(id)) {
      seen.add(id)
      return
    }
    const name = free(id)
    record[key] = name
    record[`original_${key}`] ??= id
    log(at(at(place, i), key), 'linked', `${id} is taken; it is ${name} now`)
  })
}

/** An agent that is listed twice takes part once. */
function participants({ collaboration }: MultiAgentSession, log: RepairLog): void {
  const place = at(at(root, 'collaboration'), 'participants')
  const seen = new Set<string>()
  collaboration.participants = collaboration.participants.filter((agent, i) => {
    const isNew = !seen.has(agent.agent_id)
    seen.add(agent.agent_id)
    if (!isNew) log(at(place, i), 'dropped', `${agent.agent_id} is listed already`)
    return isNew
  })
}
