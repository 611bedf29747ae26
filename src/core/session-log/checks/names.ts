import { isRecord } from '../json/value.ts'
import { isMultiAgentSession } from '../multi-agent.ts'
import type { Report } from '../report.ts'

/** The name of a file against its content; content decides, so this only warns. */
export function checkFileName(session: unknown, filename: string, report: Report): void {
  const isMulti = isMultiAgentSession(session)
  if (isMulti !== isMultiAgentSession(filename))
    report(
      'filename_differs',
      [],
      isMulti
        ? 'a multi-agent session, but not named -multi.json'
        : 'named -multi.json, but a single session',
    )
  const stem = filename.replace(/^.*[/\\]/, '').replace(/\.json$/, '')
  if (isRecord(session) && typeof session['session_id'] === 'string' && session['session_id'] !== stem)
    report('stem_differs', ['session_id'], `the file is named ${stem}`)
}
