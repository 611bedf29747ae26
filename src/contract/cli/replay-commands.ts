import { commandFamily } from './command.ts'

/** Runs of our own agents, run again. */
export const replayCommands = commandFamily({
  replay: {
    group: 'people',
    summary: 'run a run again from its record',
    needs: 'daemon',
    arguments: { run: { takes: 'one', about: 'a run, or a session whose last run is meant' } },
    options: {
      from: { kind: 'count', value: 'step', about: 'go another way from this step (or seq) on' },
      model: { kind: 'text', value: 'model', about: 'the model that is asked from there on' },
      prompt: { kind: 'text', value: 'text', about: 'what is said to the agent there' },
      'run-tools': { kind: 'switch', about: 'really run its tools; else only the record answers' },
      inexact: { kind: 'switch', about: 'with what the journal shows, when the texts themselves are gone' },
    },
    examples: [
      { line: 'sm replay def456', does: 'exact, or where it came to something else (exit 1)' },
      { line: 'sm replay def456 --from 3 --model opus', does: 'the same up to step 3, then another model' },
    ],
  },
})
