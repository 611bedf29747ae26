import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { View } from '../command-module.ts'
import { bytes, count, plural } from './amounts.ts'
import { oneLine } from './one-line.ts'
import { painter } from './paint.ts'
import { cut } from './text-width.ts'

/** Whether the journal is whole, and the first place where it is not. */
export function renderVerification(found: CommandOutput<'journal verify'>, { color }: View): string {
  const paint = painter(color)
  const size = `${plural(found.events, 'event')} in ${plural(found.segments, 'segment')} (${bytes(found.bytes)})`
  return [
    ...(found.setAside ?? []).map(
      ({ file, lines, original }) =>
        `${file}: ${plural(lines, 'line')} put aside; the original is ${original}`,
    ),
    found.ok ? `${paint('green', 'ok')}: ${size}` : `${paint('red', 'damaged')}: ${size}`,
    ...found.damage.map(
      ({ file, line, seq, reason }) => `${file}:${line}: after event ${count(seq)}: ${reason}`,
    ),
    ...(found.unfinished === undefined
      ? []
      : [
          `${found.unfinished.file}: ${bytes(found.unfinished.bytes)} after the last whole batch: ${found.unfinished.reason}`,
        ]),
    ...(found.ok ? [] : ['The other events are sound. Copy the folder, then: sm journal verify --set-aside']),
  ].join('\n')
}

/** Size and reach of the journal. */
export function renderStats(stats: CommandOutput<'journal stats'>): string {
  const rows: [string, string][] = [
    ['events', stats.seq === 0 ? 'none' : `${count(stats.oldestSeq)} to ${count(stats.seq)}`],
    ['segments', count(stats.segments)],
    ['size', bytes(stats.bytes)],
    ['blobs', bytes(stats.blobBytes)],
    ['snapshot', stats.snapshotSeq === 0 ? 'none' : `at event ${count(stats.snapshotSeq)}`],
    ['open sessions', count(stats.openSessions)],
    ['producers', count(stats.producers)],
  ]
  return rows.map(([term, text]) => `${term.padEnd(13)}  ${text}`).join('\n')
}

/** What became of the lines of an imported file. */
export function renderImport(result: CommandOutput<'journal import'>, { width }: View): string {
  const { appended, duplicates, rejected } = result
  return [
    ...rejected.map(({ line, code, message }) => cut(oneLine(`line ${line}: ${code}: ${message}`), width)),
    `${plural(appended, 'event')} added, ${count(duplicates)} here already, ${count(rejected.length)} refused.`,
  ].join('\n')
}
