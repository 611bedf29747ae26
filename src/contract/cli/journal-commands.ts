import { commandFamily } from './command.ts'

const filters = {
  type: { kind: 'text', value: 'type', isMany: true, about: 'only events of this type; may be repeated' },
  session: { kind: 'text', value: 'id', about: 'only events of this session' },
} as const

/** Reading, checking and moving the journal. */
export const journalCommands = commandFamily({
  'journal verify': {
    group: 'maintenance',
    summary: 'check every line of the journal against its digest',
    needs: 'offline',
    options: {
      'set-aside': { kind: 'switch', about: 'set damaged lines aside, so that the journal opens again' },
    },
    examples: [
      { line: 'sm journal verify', does: 'exit 1 and the bad lines, if any' },
      { line: 'sm journal verify --set-aside', does: 'repair it; the damaged file is kept whole' },
    ],
  },
  'journal tail': {
    group: 'maintenance',
    summary: 'print the last events, and follow new ones',
    needs: 'daemon',
    options: {
      follow: { kind: 'switch', short: 'f', about: 'follow new events' },
      ...filters,
      lines: {
        kind: 'count',
        value: 'count',
        short: 'n',
        default: 20,
        about: 'show this many past events first',
      },
    },
    examples: [
      { line: 'sm journal tail -f', does: 'the last 20 events, then live' },
      { line: 'sm journal tail --type tool.call.failed -n 5', does: 'the last five failed tool calls' },
    ],
  },
  'journal import': {
    group: 'maintenance',
    summary: 'append the events of a file; a repeat adds nothing',
    needs: 'daemon',
    arguments: { file: { takes: 'one', about: 'one event per line, as exported', isFile: true } },
    examples: [{ line: 'sm journal import backup.jsonl', does: 'add the events that are not here yet' }],
  },
  'journal export': {
    group: 'maintenance',
    summary: 'print events, one JSON object per line',
    needs: 'offline',
    options: {
      after: { kind: 'count', value: 'seq', default: 0, about: 'only events after this number' },
      ...filters,
    },
    examples: [{ line: 'sm journal export > backup.jsonl', does: 'every event, oldest first' }],
  },
  'journal stats': {
    group: 'maintenance',
    summary: 'print the size of the journal, its first and last event',
    needs: 'offline',
    answers: 'journalStats',
    examples: [{ line: 'sm journal stats', does: 'segments, bytes, first and last event' }],
  },
  'journal rebuild-index': {
    group: 'maintenance',
    summary: 'rebuild the index from the journal',
    needs: 'daemon',
    answers: 'rebuildIndex',
    examples: [{ line: 'sm journal rebuild-index', does: 'after damage to the index file' }],
  },
})
