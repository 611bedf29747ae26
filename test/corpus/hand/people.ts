import type { CorpusCase } from '../corpus-case.ts'
import { screens } from '../world.ts'
import {
  asked,
  began,
  ended,
  handCase,
  hook,
  idle,
  line,
  over,
  prompt,
  ready,
  running,
  screen,
  status,
} from './hand-case.ts'

const dialog = {
  ...screens.blank,
  dialog: { kind: 'permission', title: 'Do you want to proceed?', options: ['Yes', 'No'] },
} as const
const touch = { command: 'touch x' }
const permission = { kind: 'asking', ask: 'permission', tool: 'Bash', input: touch } as const

/** What a person is asked, and what a person does. */
export const people: readonly CorpusCase[] = [
  handCase('overlay-not-yet-drawn', {
    cli: 'codex',
    version: '0.166.0',
    signals: [prompt(1), began(3, 'c1', 'Bash', touch), hook(3.1, permission), screen(3.7, screens.working)],
    at: 4,
    is: { ...asked, waitingFor: 'permission' },
  }),
  handCase('overlay-gone', {
    cli: 'codex',
    version: '0.166.0',
    signals: [
      prompt(1),
      began(3, 'c1', 'Bash', touch),
      hook(3.1, permission),
      screen(4.2, dialog),
      screen(9, screens.working),
    ],
    at: 10,
    is: { ...running, activity: 'calling_tool', waitingFor: 'none' },
  }),
  handCase('stopped-before-its-prompt-was-told', {
    cli: 'opencode',
    version: '1.18.33',
    config: { startedWith: 'Work.' },
    signals: [
      ready(1),
      screen(3, screens.working),
      status(9, { kind: 'interrupted' }),
      screen(10, screens.calm),
    ],
    at: 11,
    is: { ...idle, waitingFor: 'none' },
  }),
  handCase('at-rest-before-its-prompt-was-told', {
    cli: 'opencode',
    version: '1.18.33',
    config: { startedWith: 'Work.' },
    signals: [ready(1), screen(3, screens.working), screen(10, screens.calm)],
    at: 30,
    is: { lifecycle: 'starting' },
  }),
  handCase('only-the-vague-notice', {
    signals: [
      prompt(1),
      hook(9, { kind: 'asking', ask: 'permission', detail: 'Claude needs your permission' }),
    ],
    at: 12,
    is: { ...asked, waitingFor: 'permission' },
  }),
  handCase('vague-notice-of-a-question-on-the-screen', {
    signals: [
      prompt(1),
      line(2, { kind: 'tool-start', callId: 'c1', tool: 'AskUserQuestion', input: {} }),
      hook(9, { kind: 'asking', ask: 'permission', detail: 'Claude needs your permission' }),
      screen(10, {
        ...screens.blank,
        dialog: { kind: 'question', title: 'Which colour?', options: ['Red'] },
      }),
    ],
    at: 12,
    config: { resumedAt: 8000 },
    is: { ...asked, waitingFor: 'question' },
  }),
  handCase('vague-notice-after-the-answer', {
    signals: [
      prompt(1),
      began(2, 'c1', 'Bash', touch),
      hook(2.1, permission),
      hook(8.1, { kind: 'asking', ask: 'permission' }),
      over(9, 'c1'),
    ],
    at: 10,
    is: { ...running, activity: 'thinking', waitingFor: 'none' },
  }),
  handCase('same-tool-ended-but-another-call', {
    signals: [
      prompt(1),
      began(2, 'c1', 'Bash', { command: 'ls' }),
      began(2.1, 'c2', 'Bash', touch),
      hook(2.2, permission),
      over(2.6, 'c1'),
    ],
    at: 8,
    is: { ...asked, waitingFor: 'permission' },
  }),
  handCase('another-call-ran-after-the-ask', {
    signals: [
      prompt(1),
      began(2, 'c1', 'Bash', touch),
      hook(2.1, permission),
      began(2.2, 'c2', 'Bash', { command: 'ls' }),
      over(2.6, 'c2'),
    ],
    at: 8,
    is: { ...asked, waitingFor: 'permission' },
  }),
  handCase('another-call-ended-after-a-vague-ask', {
    cli: 'gemini',
    version: '0.61.0',
    signals: [
      prompt(1),
      began(2, 'c1', 'read_file', { file: 'a' }),
      began(2.1, 'c2', 'run_shell_command', touch),
      hook(2.2, { kind: 'asking', ask: 'permission' }),
      over(2.6, 'c1', 'read_file'),
    ],
    at: 8,
    is: { ...asked, waitingFor: 'permission' },
  }),
  handCase('two-asks-one-answered', {
    signals: [
      prompt(1),
      began(2, 'c1', 'Bash', touch),
      hook(2.1, permission),
      over(5, 'c1'),
      began(5.1, 'c2', 'Bash', { command: 'rm x' }),
      hook(5.2, { ...permission, input: { command: 'rm x' } }),
    ],
    at: 8,
    is: { ...asked, waitingFor: 'permission' },
  }),
  handCase('asked-again-for-the-same', {
    signals: [
      prompt(1),
      began(2, 'c1', 'Bash', touch),
      hook(2.1, permission),
      over(5, 'c1'),
      began(7, 'c2', 'Bash', touch),
      hook(7.1, permission),
    ],
    at: 9,
    is: { ...asked, waitingFor: 'permission' },
  }),
  handCase('question-told-with-its-call', {
    signals: [
      prompt(1),
      began(2, 'q1', 'AskUserQuestion', { questions: [] }),
      hook(2, { kind: 'asking', ask: 'question', tool: 'AskUserQuestion', callId: 'q1' }),
    ],
    at: 40,
    is: { ...asked, waitingFor: 'question' },
  }),
  handCase('question-told-before-the-line-of-its-call', {
    signals: [
      prompt(1),
      hook(2, { kind: 'asking', ask: 'question', tool: 'AskUserQuestion', callId: 'q1' }),
      line(2.3, { kind: 'tool-start', callId: 'q1', tool: 'AskUserQuestion' }),
    ],
    at: 40,
    is: { ...asked, waitingFor: 'question' },
  }),
  handCase('question-answered-from-afar', {
    signals: [
      prompt(1),
      began(2, 'q1', 'AskUserQuestion'),
      hook(2, { kind: 'asking', ask: 'question', tool: 'AskUserQuestion', callId: 'q1' }),
      line(60, { kind: 'tool-end', callId: 'q1', ok: true }),
    ],
    at: 63,
    is: { ...running, activity: 'thinking', waitingFor: 'none' },
  }),
  handCase('answer-known-by-what-follows', {
    signals: [
      prompt(1),
      began(2, 'c1', 'Bash', touch),
      hook(2.1, permission),
      line(40, { kind: 'text', text: 'The file is there; now the tests.' }),
      began(41, 'c2', 'Bash', { command: 'npm test' }),
    ],
    at: 45,
    is: { ...running, activity: 'calling_tool', waitingFor: 'none' },
  }),
  handCase('asked-in-other-words-than-the-call', {
    cli: 'gemini',
    version: '0.61.0',
    signals: [
      prompt(1),
      began(2, 'c1', 'run_shell_command', { command: 'touch x', description: 'x' }),
      hook(2.1, {
        kind: 'asking',
        ask: 'permission',
        tool: 'run_shell_command',
        input: { command: 'touch x' },
      }),
      over(6, 'c1', 'run_shell_command'),
    ],
    at: 8,
    is: { ...running, activity: 'thinking', waitingFor: 'none' },
  }),
  handCase('asked-in-other-words-and-unanswered', {
    cli: 'gemini',
    version: '0.61.0',
    signals: [
      prompt(1),
      began(2, 'c1', 'run_shell_command', { command: 'touch x', description: 'x' }),
      hook(2.1, {
        kind: 'asking',
        ask: 'permission',
        tool: 'run_shell_command',
        input: { command: 'touch x' },
      }),
    ],
    at: 60,
    is: { ...asked, waitingFor: 'permission' },
  }),
  handCase('usage-without-a-reason-after-the-end', {
    cli: 'codex',
    version: '0.166.0',
    signals: [
      prompt(1),
      ended(5, 'See above.'),
      line(12, { kind: 'usage', responseId: 'r1', model: 'm', usage: { input: 1, output: 1 } }),
    ],
    at: 14,
    is: idle,
  }),
  handCase('dialog-seen-by-the-screen-alone', {
    signals: [prompt(1), screen(2, screens.working), screen(8, dialog)],
    at: 12,
    is: { ...asked, waitingFor: 'permission' },
  }),
  handCase('dialog-escaped-no-hook', {
    signals: [
      prompt(1),
      screen(2, screens.working),
      hook(4, permission),
      screen(5, dialog),
      screen(9, screens.calm),
      screen(16, screens.calm),
    ],
    at: 17,
    is: idle,
  }),
  handCase('question-for-two-hours', {
    signals: [prompt(1), hook(3, { kind: 'asking', ask: 'question', tool: 'AskUserQuestion', callId: 'q' })],
    at: 7200,
    is: { lifecycle: 'waiting_input', waitingFor: 'question', health: 'stale' },
  }),
  handCase('question-for-two-hours-on-the-screen', {
    signals: [
      prompt(1),
      hook(3, { kind: 'asking', ask: 'question', tool: 'AskUserQuestion', callId: 'q' }),
      screen(7195, { ...screens.blank, dialog: { kind: 'question', title: 'Which colour?', options: [] } }),
    ],
    at: 7200,
    is: { ...asked, waitingFor: 'question' },
  }),
  handCase('menu-opened-by-a-person', {
    signals: [
      prompt(1),
      ended(5, 'See above.'),
      screen(9, { ...screens.blank, dialog: { kind: 'menu', title: 'Rewind', options: [] } }),
    ],
    at: 12,
    is: idle,
  }),
  handCase('login-lost-in-the-middle', {
    signals: [
      prompt(1),
      ended(5, 'See above.'),
      screen(60, { ...screens.blank, dialog: { kind: 'login', title: 'Log in', options: [] } }),
    ],
    at: 62,
    is: { ...asked, waitingFor: 'dialog' },
  }),
  handCase('escape-seen-by-the-screen-alone', {
    signals: [prompt(1), screen(3, screens.working), screen(6, screens.draft), screen(12, screens.draft)],
    at: 13,
    is: idle,
  }),
  handCase('escape-told-by-the-status-file', {
    signals: [prompt(1), began(2, 'c1'), status(9, { kind: 'idle' })],
    at: 12,
    is: idle,
  }),
  handCase('calm-for-a-blink', {
    signals: [prompt(1), screen(1.2, screens.calm)],
    at: 2.5,
    is: { ...running, activity: 'thinking' },
  }),
  handCase('streaming-looks-calm', {
    cli: 'codex',
    version: '0.166.0',
    // This version draws no spinner while text streams, and its rules never saw one.
    signals: [prompt(1), screen(3, screens.calm), screen(9, screens.calm), screen(15, screens.calm)],
    at: 16,
    is: { ...running, activity: 'thinking' },
  }),
  handCase('rules-that-never-saw-work', {
    signals: [prompt(1), screen(3, screens.calm), screen(75, screens.calm)],
    at: 76,
    is: idle,
  }),
  handCase('typing-over-the-agent', {
    signals: [
      prompt(1),
      screen(3, screens.working),
      screen(9, { composer: { state: 'text', text: 'and then' }, isWorking: true }),
    ],
    at: 10,
    is: running,
  }),
  handCase('tool-cut-off-by-a-person', {
    signals: [
      prompt(1),
      began(2, 'c1'),
      hook(9, { kind: 'tool-end', callId: 'c1', ok: false, error: 'interrupted', isInterrupt: true }),
    ],
    at: 12,
    is: idle,
  }),
  handCase('interrupted-and-idle-notice', {
    signals: [prompt(1), line(5, { kind: 'interrupted' }), hook(65, { kind: 'idle' })],
    at: 900,
    is: idle,
  }),
  handCase('shell-mode-of-a-person', {
    signals: [prompt(1), ended(5, 'See above.'), screen(20, screens.blank)],
    at: 22,
    is: idle,
  }),
]
