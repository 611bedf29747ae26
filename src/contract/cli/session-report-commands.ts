import { commandFamily } from './command.ts'

const forSession = {
  session: { kind: 'text', value: 'session', about: 'for another session, not this one' },
} as const

/** What an agent says of itself, and asks about those around it. */
export const sessionReportCommands = commandFamily({
  me: {
    group: 'agents',
    summary: 'print the session this command runs in',
    needs: 'daemon',
    answers: 'whoAmI',
    examples: [{ line: 'sm me', does: 'name, id, state and folder' }],
  },
  who: {
    group: 'agents',
    summary: 'list siblings, or who else works here',
    needs: 'daemon',
    examples: [{ line: 'sm who', does: 'prints nothing and exits 1 when there is nobody' }],
  },
  others: {
    group: 'agents',
    summary: 'list the other sessions of this folder',
    needs: 'daemon',
    examples: [{ line: 'sm others', does: 'with what each is working on; exit 1 when there are none' }],
  },
  alone: {
    group: 'agents',
    summary: 'exit 0 if nobody else is working here',
    needs: 'daemon',
    examples: [{ line: 'sm alone && git rebase main', does: 'rebase only if nobody else is here' }],
  },
  checkpoint: {
    group: 'agents',
    summary: 'record a milestone',
    needs: 'daemon',
    answers: 'addCheckpoint',
    arguments: { message: { takes: 'one', about: 'what is done' } },
    options: {
      metadata: { kind: 'text', value: 'key=value', isMany: true, about: 'a fact to keep; may be repeated' },
      ...forSession,
    },
    examples: [
      { line: 'sm checkpoint "Data model done (3/5 tasks)"', does: 'with the state of the work tree' },
      { line: 'sm checkpoint "Starting tests" --metadata coverage=0', does: 'with a figure' },
    ],
  },
  'checkpoint diff': {
    group: 'agents',
    summary: 'show what changed between two milestones',
    needs: 'daemon',
    answers: 'diffCheckpoints',
    arguments: {
      from: { takes: 'one', about: 'the number of a milestone; sm checkpoints lists them' },
      to: { takes: 'optional', about: 'a later one; the current state by default' },
    },
    options: forSession,
    examples: [{ line: 'sm checkpoint diff 1 3 --session def456', does: 'files, tokens, cost and time' }],
  },
  complete: {
    group: 'agents',
    summary: 'say that this session is done',
    needs: 'daemon',
    answers: 'completeSession',
    arguments: {
      message: {
        takes: 'optional',
        about: 'the result in a sentence; - reads standard input',
        mayBeBlank: true,
      },
    },
    options: {
      status: {
        kind: 'text',
        value: 'status',
        choices: ['completed', 'error', 'abandoned'],
        about: 'how it ended (completed by default)',
      },
      ...forSession,
    },
    examples: [
      { line: 'sm complete "Feature X works, 26 tests pass"', does: 'the end, with its result' },
      { line: 'sm complete "No API keys" --status error', does: 'it could not be done' },
    ],
  },
  name: {
    group: 'agents',
    summary: 'name this session, or another one',
    needs: 'daemon',
    answers: 'updateSession',
    arguments: {
      'name-or-session': { takes: 'one', about: 'the name; or the session when a name follows' },
      name: { takes: 'optional', about: 'letters, digits, - and _' },
    },
    examples: [{ line: 'sm name def456 eng-1043', does: 'another one' }],
  },
  task: {
    group: 'agents',
    summary: 'say what this session is working on',
    needs: 'daemon',
    answers: 'updateSession',
    arguments: {
      text: { takes: 'one', about: 'in a few words; an empty text removes it', mayBeBlank: true },
    },
    options: forSession,
    examples: [{ line: 'sm task "Migrating the user table"', does: 'sm all shows it' }],
  },
  lock: {
    group: 'agents',
    summary: 'ask others to keep out of this folder',
    needs: 'daemon',
    answers: 'updateSession',
    arguments: { text: { takes: 'one', about: 'why' } },
    options: forSession,
    examples: [{ line: 'sm lock "Rebasing, back in 5 minutes"', does: 'sm status shows it' }],
  },
  unlock: {
    group: 'agents',
    summary: 'remove the lock',
    needs: 'daemon',
    answers: 'updateSession',
    options: forSession,
    examples: [{ line: 'sm unlock', does: 'others may work in the folder again' }],
  },
})
