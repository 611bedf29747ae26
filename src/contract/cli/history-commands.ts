import { commandFamily } from './command.ts'

/** Looking back: words that were said, and finished runs. */
export const historyCommands = commandFamily({
  search: {
    group: 'people',
    summary: 'find text in all sessions, imported ones too',
    needs: 'daemon',
    answers: 'search',
    arguments: { query: { takes: 'many', about: 'the words to look for' } },
    options: {
      session: { kind: 'text', value: 'id', about: 'only in this session' },
      limit: {
        kind: 'count',
        value: 'count',
        short: 'n',
        default: 20,
        about: 'show at most this many results',
      },
    },
    examples: [
      { line: 'sm search retry backoff', does: 'where both words occur' },
      { line: "sm search 'flaky*' -n 5", does: 'five results for words that begin with flaky' },
    ],
  },
  replay: {
    group: 'people',
    summary: 'replay a run from its record',
    needs: 'daemon',
    answers: 'replayRun',
    arguments: { run: { takes: 'one', about: 'a run, or a session (its last run is used)' } },
    options: {
      from: { kind: 'count', value: 'step', about: 'branch off at this step (or seq)' },
      model: { kind: 'text', value: 'model', about: 'the model to use from there on' },
      prompt: { kind: 'text', value: 'text', about: 'what to tell the agent there' },
      'run-tools': { kind: 'switch', about: 'really run its tools; otherwise results come from the record' },
      inexact: { kind: 'switch', about: 'use the text in the journal when the full text has been deleted' },
    },
    examples: [
      { line: 'sm replay def456', does: 'exact, or where it differs (exit 1)' },
      { line: 'sm replay def456 --from 3 --model opus', does: 'the same up to step 3, then another model' },
    ],
  },
})
