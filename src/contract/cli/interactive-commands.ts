import { commandFamily } from './command.ts'

const mode = {
  kind: 'text',
  value: 'mode',
  choices: ['chat', 'auto'],
  about: 'one tool per turn with you, or working on its own',
} as const

/** The live screen of all sessions, and speaking with the built-in agents. */
export const interactiveCommands = commandFamily({
  watch: {
    group: 'people',
    summary: 'show all sessions live; sm without a command does the same',
    needs: 'daemon',
    answers: 'listSessions',
    examples: [
      { line: 'sm watch', does: 'a full screen; ? lists the keys, q quits' },
      { line: 'sm watch --json', does: 'the sessions, one line for every change' },
    ],
  },
  ask: {
    group: 'people',
    summary: 'ask an agent a question',
    needs: 'daemon',
    arguments: {
      agent: { takes: 'one', about: 'a main agent; sm agents list shows them' },
      prompt: { takes: 'optional', about: 'what to ask; - reads standard input', mayBeBlank: true },
    },
    options: {
      model: { kind: 'text', value: 'model', about: 'use this model instead of the one the agent names' },
      cli: {
        kind: 'text',
        value: 'cli',
        about: 'own (built-in agents), claude, codex and so on; chosen without it',
      },
      mode,
      session: { kind: 'text', value: 'session', about: 'continue this session' },
      keep: { kind: 'switch', about: 'leave a new session open, for sm chat' },
      timeout: {
        kind: 'count',
        value: 'seconds',
        range: [1],
        about: 'stop waiting after this long; the agent keeps working, exit 4',
      },
    },
    examples: [
      { line: 'sm ask coder "Why does test/login fail?"', does: 'the answer as it comes' },
      { line: 'sm ask lead "Hello" --model scripted', does: 'an answer from a script; no model is called' },
      { line: 'sm ask architect - --json', does: 'the prompt from a pipe, one object back' },
    ],
  },
  chat: {
    group: 'people',
    summary: 'chat with the built-in agents in this terminal',
    needs: 'daemon',
    arguments: { agent: { takes: 'optional', about: 'a main agent; lead when none is named' } },
    options: {
      session: { kind: 'text', value: 'session', about: 'continue this session' },
      model: { kind: 'text', value: 'model', about: 'use this model instead of the one the agent names' },
      mode,
    },
    examples: [
      { line: 'sm chat coder', does: 'answers as they come; /help lists the chat commands' },
      { line: 'sm chat --session 1749a2fe', does: 'continue where you left off' },
    ],
  },
})
