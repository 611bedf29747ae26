import type { MultiAgentSession } from '../../../contract/formats/std-008/session.ts'
import type { Report } from '../report.ts'
import type { SessionIndex } from '../session-index.ts'

/** Ids are unique inside their owner; parent and child may both have a tool-001. */
export function checkIds(session: MultiAgentSession, index: SessionIndex, report: Report): void {
  checkCallIds(index, report)
  const subIds = session.sub_sessions.map((sub) => sub.sub_session_id)
  unique([session.session_id, ...subIds], (i, first) =>
    report(
      'duplicate_id',
      ['sub_sessions', i - 1, 'sub_session_id'],
      first === 0 ? 'the session itself has this id' : `sub-session ${first - 1} has the same id`,
    ),
  )
  unique(
    session.messages.map((message) => message.message_id),
    (i, first) => report('duplicate_id', ['messages', i, 'message_id'], `message ${first} has the same id`),
  )
  unique(
    session.collaboration.participants.map((agent) => agent.agent_id),
    (i, first) =>
      report(
        'duplicate_id',
        ['collaboration', 'participants', i, 'agent_id'],
        `participant ${first} has the same id`,
      ),
  )
  checkAnnotationIds(session, report)
  checkFindingIds(session, report)
}

export function checkCallIds(index: SessionIndex, report: Report): void {
  for (const { calls, path } of index.owners)
    unique(
      calls.map((call) => call.call_id),
      (i, first) =>
        report('duplicate_id', [...path, 'tool_calls', i, 'call_id'], `call ${first} has the same id`),
    )
}

export function checkAnnotationIds(
  session: Pick<MultiAgentSession, 'phase_annotations'>,
  report: Report,
): void {
  unique(
    (session.phase_annotations ?? []).map((annotation) => annotation.annotation_id),
    (i, first) =>
      report(
        'duplicate_id',
        ['phase_annotations', i, 'annotation_id'],
        `annotation ${first} has the same id`,
      ),
  )
}

function checkFindingIds(session: MultiAgentSession, report: Report): void {
  session.sub_sessions.forEach(({ output }, i) => {
    if (!output || !('findings' in output)) return
    unique(
      output.findings.map((finding) => finding.finding_id),
      (n, first) =>
        report(
          'duplicate_id',
          ['sub_sessions', i, 'output', 'findings', n, 'finding_id'],
          `finding ${first} has the same id`,
        ),
    )
  })
}

/** Calls back for each later item with the position of the first one it repeats. */
function unique(ids: readonly string[], repeated: (position: number, first: number) => void): void {
  const seen = new Map<string, number>()
  ids.forEach((id, position) => {
    const first = seen.get(id)
    if (first === undefined) seen.set(id, position)
    else repeated(position, first)
  })
}
