import { commandFamily } from './command.ts'

const aSession = { takes: 'optional', about: 'short id, prefix or name; this session by default' } as const
/** Also of an agent that works inside of a session. */
const anyAgent = {
  takes: 'optional',
  about: 'short id, prefix or name of a session, or of an agent inside of one; this session by default',
} as const

/** Looking at managed sessions. */
export const sessionLookCommands = commandFamily({
  all: {
    group: 'people',
    summary: 'list all sessions and agents as a tree',
    alias: 'ls',
    needs: 'daemon',
    answers: 'listSessions',
    options: { closed: { kind: 'switch', about: 'include ended sessions' } },
    examples: [
      { line: 'sm all', does: 'state, age, context, tokens and task of each' },
      { line: 'sm ls --closed --json', does: 'the same for a script, with ended sessions' },
    ],
  },
  status: {
    group: 'people',
    summary: 'show yourself, your children and who works here',
    needs: 'daemon',
    examples: [{ line: 'sm status', does: 'inside a session or outside' }],
  },
  children: {
    group: 'agents',
    summary: 'list the children of a session, and the agents inside of it',
    needs: 'daemon',
    answers: 'listChildren',
    arguments: { session: anyAgent },
    options: {
      recursive: { kind: 'switch', short: 'r', about: 'all below it, as a tree' },
      status: {
        kind: 'text',
        value: 'status',
        choices: ['running', 'completed', 'error', 'all'],
        about: 'only sessions in this state',
      },
    },
    examples: [
      { line: 'sm children 1749a2fe', does: 'name, state, age and last words' },
      { line: 'sm children --recursive --status running', does: 'inside a session' },
    ],
  },
  progress: {
    group: 'agents',
    summary: 'show the progress of a session',
    needs: 'daemon',
    answers: 'getProgress',
    arguments: { session: anyAgent },
    options: {
      watch: {
        kind: 'count',
        value: 'seconds',
        bare: 5,
        about: 'refresh every few seconds (5), until it ends',
      },
    },
    examples: [
      { line: 'sm progress def456', does: 'tokens, tools, activity and milestones' },
      { line: 'sm progress def456 --watch', does: 'updated in place until it ends' },
    ],
  },
  checkpoints: {
    group: 'agents',
    summary: 'list the milestones of a session',
    needs: 'daemon',
    answers: 'listCheckpoints',
    arguments: { session: aSession },
    examples: [{ line: 'sm checkpoints def456', does: 'oldest first' }],
  },
  events: {
    group: 'agents',
    summary: 'print events of a session and its children, or of all sessions',
    needs: 'daemon',
    arguments: {
      session: {
        takes: 'optional',
        about:
          'short id, prefix or name of a session or an agent; this session by default, all outside of one',
      },
    },
    options: {
      type: { kind: 'text', value: 'word', isMany: true, about: 'only events of this kind; may be repeated' },
      limit: {
        kind: 'count',
        value: 'count',
        short: 'n',
        default: 100,
        about: 'show at most this many, the latest',
      },
      follow: { kind: 'switch', short: 'f', about: 'follow new events' },
      since: { kind: 'text', value: 'time', about: 'only after 10min, 2hr, 15:10 or 2026-01-27T15:10Z' },
    },
    examples: [
      { line: 'sm events 1749a2fe --follow', does: 'past events, then live' },
      { line: 'sm events --follow', does: 'of all sessions, or inside one of itself and its children' },
      { line: 'sm events --type completed --since 1hr', does: 'who is done' },
    ],
  },
  tail: {
    group: 'people',
    summary: "print the end of a session's conversation",
    alias: 'logs',
    needs: 'daemon',
    answers: 'getTranscript',
    arguments: { session: anyAgent },
    options: {
      lines: { kind: 'count', value: 'count', short: 'n', default: 20, about: 'show this many entries' },
      follow: { kind: 'switch', short: 'f', about: 'follow new entries' },
    },
    examples: [{ line: 'sm tail def456 -f', does: 'prompts, answers and tools as they come' }],
  },
  output: {
    group: 'agents',
    summary: "print the last lines of a session's terminal",
    needs: 'daemon',
    answers: 'getOutput',
    arguments: { session: aSession },
    options: {
      lines: { kind: 'count', value: 'count', short: 'n', default: 50, about: 'show this many lines' },
    },
    examples: [{ line: 'sm output def456 --lines 200', does: 'what a person would see there' }],
  },
  blackboard: {
    group: 'agents',
    summary: 'show what the agents of a session share',
    needs: 'daemon',
    answers: 'getBlackboard',
    arguments: { session: aSession },
    examples: [{ line: 'sm blackboard def456', does: 'each item with its source and version' }],
  },
  what: {
    group: 'agents',
    summary: 'say in a few words what a session is about',
    needs: 'daemon',
    answers: 'getSummary',
    arguments: { session: { takes: 'one', about: 'its short id, a unique prefix, or its name' } },
    options: {
      model: { kind: 'text', value: 'model', about: 'have this model summarize it; sm models lists them' },
    },
    examples: [
      { line: 'sm what def456', does: 'from what it said itself' },
      { line: 'sm what def456 --model haiku', does: 'from its conversation, by a model' },
    ],
  },
  explain: {
    group: 'maintenance',
    summary: 'show every signal behind the state of a session',
    needs: 'daemon',
    answers: 'explainSession',
    arguments: { session: aSession },
    examples: [{ line: 'sm explain def456', does: 'why idle, how sure, and what would change it' }],
  },
  ps: {
    group: 'maintenance',
    summary: 'list the processes of all sessions',
    needs: 'daemon',
    answers: 'listProcesses',
    examples: [{ line: 'sm ps', does: 'including processes left behind' }],
  },
})
