import { codingCliNames } from '../agent-clis.ts'
import { commandFamily } from './command.ts'

const oneSession = { takes: 'one', about: 'its short id, a unique prefix, or its name' } as const

/** Starting, steering and ending managed sessions. */
export const sessionCommands = commandFamily({
  spawn: {
    group: 'people',
    summary: 'start an agent in a new session',
    needs: 'daemon',
    arguments: {
      'agent-type': { takes: 'one', about: 'the role: Engineer, Architect, any agent file, or a CLI' },
      prompt: { takes: 'optional', about: 'what to do; - reads standard input', mayBeBlank: true },
    },
    options: {
      model: { kind: 'text', value: 'model', about: 'opus, sonnet, haiku or a full id' },
      args: {
        kind: 'text',
        value: 'words',
        isMany: true,
        mayBeBlank: true,
        about: 'arguments for the CLI, quoted as in a shell; may be repeated',
      },
      preset: { kind: 'text', value: 'name', about: 'a set of model and arguments from the settings' },
      parent: {
        kind: 'text',
        value: 'session',
        about: 'the parent; inside a session it is that session',
      },
      'working-dir': {
        kind: 'file',
        value: 'path',
        about: "its folder; otherwise the parent's, or the current one",
      },
      name: { kind: 'text', value: 'name', about: 'a name of letters, digits, - and _' },
      cli: {
        kind: 'text',
        value: 'cli',
        about: `which coding agent runs: ${codingCliNames.join(', ')}, or one of your settings`,
        suggests: codingCliNames,
      },
      'permission-mode': {
        kind: 'text',
        value: 'mode',
        choices: ['manual', 'acceptEdits', 'plan', 'bypass'],
        about: 'what it may do without asking',
      },
      mode: {
        kind: 'text',
        value: 'mode',
        choices: ['auto', 'manual', 'supervised'],
        about: 'how its end is detected',
      },
      isolation: {
        kind: 'text',
        value: 'kind',
        choices: ['none', 'bwrap'],
        about: 'run it in a sandbox where it writes only to its folder and sees no other session',
      },
      worktree: { kind: 'text', value: 'branch', bare: '', about: 'work in its own git work tree' },
      budget: {
        kind: 'text',
        value: 'amount',
        isMany: true,
        about: 'limit for it and its descendants: 200k or 1.5m tokens, 5usd; may be repeated',
      },
      'prompt-file': {
        kind: 'file',
        value: 'file',
        about: 'read the prompt from a file; - is standard input',
      },
      'dry-run': { kind: 'switch', about: 'show what would be started, and start nothing' },
      wait: {
        kind: 'count',
        value: 'seconds',
        bare: 0,
        about: 'wait until it has ended, or for this long; exit 4 on timeout',
      },
      quiet: { kind: 'switch', short: 'q', about: 'print only the short id' },
    },
    examples: [
      { line: 'sm spawn Engineer "Implement the login endpoint"', does: 'in the current folder' },
      { line: 'sm spawn Architect "Review PR 1042" --model opus --name pr1042', does: 'with a name' },
      { line: 'sm spawn codex - --worktree=fix/login --budget 200k', does: 'the prompt from a pipe' },
    ],
  },
  send: {
    group: 'people',
    summary: 'send text to a session, or answer its question',
    needs: 'daemon',
    answers: 'sendMessage',
    arguments: {
      sessions: { takes: 'one', about: 'short id, prefix or name; several with commas: a,b' },
      text: { takes: 'optional', about: 'what to say; - reads standard input', mayBeBlank: true },
    },
    options: {
      important: { kind: 'switch', about: 'deliver it between two steps, without waiting for it to be idle' },
      urgent: { kind: 'switch', about: 'interrupt what it is doing' },
      wait: {
        kind: 'count',
        value: 'seconds',
        bare: 60,
        about: 'wait until the session has accepted it (60); exit 4 on timeout',
      },
      file: { kind: 'file', value: 'file', about: 'read the text from a file; - is standard input' },
    },
    examples: [
      {
        line: 'sm send def456 "Add error handling for network failures"',
        does: 'delivered when it is next idle',
      },
      {
        line: 'sm send abc123,def456 "Stop: requirements changed" --urgent',
        does: 'delivered at once, to two sessions',
      },
    ],
  },
  messages: {
    group: 'agents',
    summary: 'list the messages to a session, with receipts',
    needs: 'daemon',
    answers: 'listMessages',
    arguments: { session: { takes: 'optional', about: 'short id, prefix or name; this session by default' } },
    options: {
      failed: { kind: 'switch', about: 'only those that could not be delivered' },
      limit: { kind: 'count', value: 'count', short: 'n', default: 100, about: 'show at most this many' },
    },
    examples: [{ line: 'sm messages def456 --failed', does: 'what never reached it, and why' }],
  },
  'messages dismiss': {
    group: 'people',
    summary: 'withdraw a message that is still queued',
    needs: 'daemon',
    answers: 'dismissMessage',
    arguments: { message: { takes: 'one', about: 'its id; sm messages lists queued ones' } },
    examples: [
      { line: 'sm messages dismiss msg_01m7hjb2xp027g0001nrw1jch3', does: 'the agent never sees it' },
    ],
  },
  interrupt: {
    group: 'people',
    summary: 'stop what sessions are doing, as Escape does',
    needs: 'daemon',
    answers: 'interruptSession',
    arguments: { sessions: { takes: 'many', about: 'short ids, prefixes or names' } },
    examples: [{ line: 'sm interrupt def456', does: 'it stays alive and waits for input' }],
  },
  kill: {
    group: 'people',
    summary: 'end sessions and their descendants, or built-in agents inside of one',
    needs: 'daemon',
    answers: 'killSession',
    arguments: {
      sessions: {
        takes: 'many',
        about: 'short ids, prefixes or names of sessions, or of agents inside of one',
      },
    },
    options: {
      force: { kind: 'switch', about: 'end them at once, without an interrupt or a grace period' },
      reason: { kind: 'text', value: 'text', about: 'why, for the record', mayBeBlank: true },
    },
    examples: [
      { line: 'sm kill def456', does: 'interrupt, then end it and its children' },
      { line: 'sm kill def456 --force', does: 'at once' },
    ],
  },
  budget: {
    group: 'people',
    summary: 'change the budget of a session and its descendants',
    needs: 'daemon',
    answers: 'updateSession',
    arguments: {
      session: oneSession,
      amounts: { takes: 'many', about: '200k or 1.5m tokens, 5usd; what it has used already counts' },
    },
    examples: [{ line: 'sm budget def456 500k', does: 'a session stopped by its budget continues' }],
  },
  approvals: {
    group: 'people',
    summary: 'list what is waiting for a decision',
    needs: 'daemon',
    answers: 'listApprovals',
    arguments: { session: { takes: 'optional', about: 'only of this session' } },
    options: { all: { kind: 'switch', about: 'include decided ones' } },
    examples: [{ line: 'sm approvals', does: 'oldest first' }],
  },
  approve: {
    group: 'people',
    summary: 'allow what a session asks for',
    needs: 'daemon',
    answers: 'decideApproval',
    arguments: { id: { takes: 'one', about: 'an approval, or a session that asks one thing' } },
    options: {
      always: { kind: 'switch', about: 'and never ask about this kind of call again' },
      session: { kind: 'switch', about: 'and do not ask about this kind of call again in this session' },
      answer: {
        kind: 'text',
        value: 'answer',
        isMany: true,
        about: 'the chosen label; question=label when it asks several; again for another choice',
      },
    },
    examples: [
      { line: 'sm approve def456', does: 'this once' },
      { line: 'sm approve def456 --answer "Use JWT"', does: 'answer its question' },
      {
        line: 'sm approve def456 --answer Colour=Red --answer Size=S --answer Size=M',
        does: 'answer two; the second with two choices',
      },
    ],
  },
  reject: {
    group: 'people',
    summary: 'refuse what a session asks for',
    needs: 'daemon',
    answers: 'decideApproval',
    arguments: {
      id: { takes: 'one', about: 'an approval, or a session that asks one thing' },
      reason: { takes: 'optional', about: 'why; the agent sees it', mayBeBlank: true },
    },
    examples: [{ line: 'sm reject def456 "Write a test first"', does: 'it continues with that' }],
  },
  attach: {
    group: 'people',
    summary: "show a session's terminal; Ctrl-Q leaves it",
    needs: 'daemon',
    answers: 'getAttach',
    arguments: { session: oneSession },
    options: { print: { kind: 'switch', about: 'only print the command that does it' } },
    examples: [{ line: 'sm attach def456', does: 'inside tmux it opens in a new window' }],
  },
  wait: {
    group: 'agents',
    summary: 'wait until sessions have ended or need input',
    needs: 'daemon',
    answers: 'getSession',
    arguments: { sessions: { takes: 'many', about: 'short ids, prefixes or names' } },
    options: {
      for: {
        kind: 'text',
        value: 'what',
        choices: ['complete', 'idle', 'waiting'],
        about: 'what to wait for (the end by default)',
      },
      timeout: { kind: 'count', value: 'seconds', about: 'exit 4 if it takes longer' },
      any: { kind: 'switch', about: 'return as soon as one of them gets there' },
    },
    examples: [
      { line: 'sm wait abc123 def456 --timeout 600', does: 'exit 1 if one of them failed' },
      { line: 'sm wait abc123 --for idle', does: 'until its turn is over; exit 1 if it failed' },
    ],
  },
  resume: {
    group: 'people',
    summary: 'restart a session with its conversation',
    needs: 'daemon',
    answers: 'resumeSession',
    arguments: { session: oneSession },
    examples: [{ line: 'sm resume def456', does: 'after a crash, a kill or a reboot' }],
  },
  restore: {
    group: 'maintenance',
    summary: 'bring back sessions that a restart ended',
    needs: 'daemon',
    answers: 'restoreSessions',
    options: { 'dry-run': { kind: 'switch', about: 'only say what would happen to each session' } },
    examples: [{ line: 'sm restore --dry-run', does: 'restored, needs you, gone; and why' }],
  },
  adopt: {
    group: 'agents',
    summary: 'take over an orphan, or a session started outside Muster',
    needs: 'daemon',
    answers: 'adoptSession',
    arguments: { session: oneSession },
    options: {
      parent: {
        kind: 'text',
        value: 'session',
        about: 'the new parent; inside a session it is that session',
      },
    },
    examples: [
      { line: 'sm adopt def456', does: 'inside a session: it becomes your child' },
      {
        line: 'sm adopt 3fa0c2d1',
        does: 'a session you quit outside Muster continues in a Muster terminal',
      },
    ],
  },
})
