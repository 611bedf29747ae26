import type { SessionRow } from '../../contract/index-rows.ts'
import type { Directory } from './directory.ts'

const most = 240

/** What a session is about, in two or three sentences of its own: the task, the last milestone, its last words. */
export async function summaryOf(directory: Directory, row: SessionRow) {
  const { current_activity, checkpoints, last_tool, status } = await directory.progress(row)
  const name = row.friendlyName ?? row.name ?? row.shortId
  const prompt = row.task ?? row.prompt
  const sentences = [
    prompt === null ? `${name} is ${status}.` : `${name} is ${status}: ${short(prompt)}`,
    checkpoints.at(-1) && `Last milestone: ${short(checkpoints.at(-1)?.message ?? '')}`,
    row.completion ??
      (current_activity && current_activity !== prompt && `It last said: ${short(current_activity)}`),
    last_tool && status === 'working' && `It last used ${last_tool.name}.`,
  ]
  const summary = sentences.filter(Boolean).join(' ')
  return { session_id: row.shortId, name, summary, made_by: 'Muster, from its own words' }
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  const cut = line.length > most ? `${line.slice(0, most - 1)}…` : line
  return /[.!?…]$/.test(cut) ? cut : `${cut}.`
}
