import type { CorpusCase } from '../corpus-case.ts'
import { screens } from '../world.ts'
import {
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

const limited = { lifecycle: 'failed', waitingFor: 'limit', health: 'limited' } as const
const failed = { kind: 'turn-failed', error: 'API Error: 400' } as const

/** Failures, limits, ends of the program, background work. */
export const trouble: readonly CorpusCase[] = [
  handCase('failure-shown-but-not-told', {
    signals: [
      prompt(1),
      screen(2, screens.working),
      screen(5, { ...screens.calm, error: 'API Error: 400' }),
      screen(11, { ...screens.calm, error: 'API Error: 400' }),
    ],
    at: 12,
    is: { lifecycle: 'failed', health: 'ok' },
  }),
  handCase('old-failure-on-the-screen', {
    signals: [prompt(1), ended(5, 'See above.'), screen(9, { ...screens.calm, error: 'API Error: 400' })],
    at: 12,
    is: idle,
  }),
  handCase('failure-and-idle-notice', {
    signals: [prompt(1), hook(5, failed), hook(65, { kind: 'idle' })],
    at: 900,
    is: { lifecycle: 'failed', health: 'ok' },
  }),
  handCase('failure-closed-like-a-good-turn', {
    signals: [
      prompt(1),
      began(2, 'c1'),
      over(3, 'c1'),
      line(5, { kind: 'text', text: 'API Error: 400' }),
      line(5, failed),
      line(5.01, { kind: 'turn-end', background: 0 }),
    ],
    at: 900,
    is: { lifecycle: 'failed', health: 'ok' },
  }),
  handCase('cleared-after-a-failure', {
    signals: [
      prompt(1),
      hook(5, failed),
      hook(20, { kind: 'gone', reason: 'clear' }),
      hook(20.1, { kind: 'ready', reason: 'clear' }),
    ],
    at: 30,
    is: idle,
  }),
  handCase('retry-told-by-the-transcript', {
    cli: 'codex',
    version: '0.166.0',
    signals: [prompt(1), line(8, { kind: 'retrying', attempt: 2, of: 5 })],
    at: 12,
    is: { lifecycle: 'running', health: 'retrying' },
  }),
  handCase('retry-over', {
    cli: 'codex',
    version: '0.166.0',
    signals: [
      prompt(1),
      line(8, { kind: 'retrying', attempt: 2, of: 5 }),
      line(14, { kind: 'text', text: 'I look.' }),
    ],
    at: 16,
    is: { ...running, activity: 'working' },
  }),
  handCase('retry-gone-from-the-screen', {
    signals: [
      prompt(1),
      screen(4, { ...screens.working, retry: { attempt: 3, of: 10 } }),
      screen(12, screens.working),
    ],
    at: 13,
    is: running,
  }),
  handCase('limit-shown-but-not-told', {
    signals: [
      prompt(1),
      screen(2, screens.working),
      screen(6, { ...screens.calm, limit: { text: 'limit reached' } }),
      screen(15, { ...screens.calm, limit: { text: 'limit reached' } }),
    ],
    at: 16,
    is: limited,
  }),
  handCase('limit-after-a-good-turn', {
    signals: [
      prompt(1),
      began(2, 'c1'),
      over(3, 'c1'),
      ended(5, 'Done.'),
      screen(9, { ...screens.calm, limit: { text: 'limit reached' } }),
    ],
    at: 12,
    is: limited,
  }),
  handCase('limit-and-a-prompt', {
    signals: [
      prompt(1),
      hook(5, { kind: 'turn-failed', error: 'limit', limit: { resetsAtMs: 9_000_000 } }),
      prompt(60),
    ],
    at: 63,
    is: { ...running, waitingFor: 'none' },
  }),
  handCase('limit-of-yesterday', {
    signals: [prompt(1), hook(5, { kind: 'turn-failed', error: 'limit', limit: {} })],
    at: 86_400,
    is: { lifecycle: 'failed', waitingFor: 'none', health: 'ok' },
  }),
  handCase('crash-before-anything', {
    signals: [status(0.4, { kind: 'exited', code: 127 })],
    at: 3,
    is: { lifecycle: 'error', health: 'crashed' },
  }),
  handCase('crash-when-idle', {
    signals: [prompt(1), ended(5, 'Done.'), status(60, { kind: 'exited', signal: 'SIGSEGV' })],
    at: 65,
    is: { lifecycle: 'error', health: 'crashed' },
  }),
  handCase('crash-then-last-lines', {
    signals: [
      prompt(1),
      began(2, 'c1'),
      status(8, { kind: 'exited', code: 1 }),
      line(8.5, { kind: 'text', text: 'Done.' }),
      screen(9, screens.blank),
    ],
    at: 20,
    is: { lifecycle: 'error', health: 'crashed' },
  }),
  handCase('screen-read-while-it-ends', {
    signals: [
      prompt(1),
      began(2, 'c1'),
      status(8, { kind: 'exited', code: 1 }),
      screen(8.6, screens.working),
    ],
    at: 20,
    is: { lifecycle: 'error', health: 'crashed' },
  }),
  handCase('quit-told-twice', {
    cli: 'gemini',
    version: '0.61.0',
    signals: [
      prompt(1),
      ended(5, 'See above.'),
      hook(20, { kind: 'gone', reason: 'exit' }),
      hook(20.1, { kind: 'gone', reason: 'exit' }),
      status(20.5, { kind: 'exited', code: 0 }),
    ],
    at: 25,
    is: { lifecycle: 'idle', health: 'gone' },
  }),
  handCase('goodbye-and-no-pane', {
    signals: [
      prompt(1),
      ended(5, 'See above.'),
      hook(20, { kind: 'gone', reason: 'prompt_input_exit' }),
      status(20.2, { kind: 'exited' }),
    ],
    at: 25,
    is: { lifecycle: 'idle', health: 'gone' },
  }),
  handCase('goodbye-without-an-exit', {
    cli: 'codex',
    version: '0.166.0',
    signals: [prompt(1), ended(5, 'See above.'), hook(20, { kind: 'gone', reason: 'other' })],
    at: 25,
    is: { lifecycle: 'idle', health: 'gone' },
  }),
  handCase('back-after-goodbye', {
    signals: [
      prompt(1),
      ended(5, 'See above.'),
      hook(20, { kind: 'gone', reason: 'logout' }),
      screen(40, screens.calm),
    ],
    at: 42,
    is: idle,
  }),
  handCase('pane-killed-in-a-turn', {
    signals: [
      prompt(1),
      began(2, 'c1'),
      hook(8, { kind: 'gone', reason: 'other' }),
      status(8.1, { kind: 'exited' }),
    ],
    at: 12,
    is: { lifecycle: 'error', health: 'gone' },
  }),
  handCase('background-agent-ended-unnoticed', {
    signals: [
      prompt(1),
      hook(2, { kind: 'subagent-start', agentId: 'a1', agentType: 'Explore' }),
      ended(4, 'Launched.', 1),
      hook(30, { kind: 'subagent-end', agentId: 'a1' }),
    ],
    at: 60,
    is: idle,
  }),
  handCase('one-of-two-background-agents-ended', {
    signals: [
      prompt(1),
      hook(2, { kind: 'subagent-start', agentId: 'a1', agentType: 'Explore' }),
      hook(2.1, { kind: 'subagent-start', agentId: 'a2', agentType: 'Explore' }),
      ended(4, 'Launched.', 2),
      hook(30, { kind: 'subagent-end', agentId: 'a1' }),
    ],
    at: 60,
    is: { ...running, waitingFor: 'background' },
  }),
  handCase('uncounted-subagent-works-on', {
    cli: 'codex',
    version: '0.166.0',
    signals: [
      prompt(1),
      hook(2, { kind: 'subagent-start', agentId: 'a1', agentType: 'default' }),
      ended(4, 'Launched.', 0),
      hook(20, { kind: 'tool-start', callId: 's1', tool: 'Bash', agent: 'a1' }),
    ],
    at: 30,
    is: { ...running, waitingFor: 'background' },
  }),
  handCase('uncounted-subagent-fell-silent', {
    cli: 'codex',
    version: '0.166.0',
    signals: [
      prompt(1),
      hook(2, { kind: 'subagent-start', agentId: 'a1', agentType: 'default' }),
      ended(4, 'Launched.', 0),
      hook(20, { kind: 'tool-end', callId: 's1', ok: true, agent: 'a1' }),
    ],
    at: 400,
    is: idle,
  }),
  handCase('subagent-failed-after-the-turn', {
    signals: [
      prompt(1),
      ended(4, 'See above.'),
      hook(8, { kind: 'turn-failed', error: 'API Error', agent: 'a9' }),
      hook(8.2, { kind: 'subagent-end', agentId: 'a9' }),
    ],
    at: 20,
    is: idle,
  }),
  handCase('long-work-of-a-subagent', {
    signals: [
      prompt(1),
      began(2, 'c1', 'Agent'),
      ...Array.from({ length: 12 }, (_, i) =>
        hook(60 * i + 5, { kind: 'tool-end', callId: `s${i}`, ok: true, agent: 'a1' }),
      ),
    ],
    at: 700,
    is: { ...running, activity: 'calling_tool' },
  }),
  handCase('background-and-a-second-turn', {
    signals: [prompt(1), ended(4, 'Launched.', 1), prompt(30), ended(40, 'See above.', 0)],
    at: 50,
    is: idle,
  }),
  handCase('nothing-at-all', { signals: [], at: 5, is: { lifecycle: 'starting' } }),
  handCase('nothing-for-two-minutes', {
    signals: [],
    at: 120,
    config: { startedAt: 0 },
    is: { lifecycle: 'starting', health: 'stuck' },
  }),
  handCase('ready-and-prompt-to-come', { signals: [ready(0.6)], at: 1.5, is: { lifecycle: 'starting' } }),
  handCase('compaction-just-begun', {
    signals: [
      prompt(1),
      ended(4, 'See above.'),
      screen(6, screens.calm),
      hook(20, { kind: 'compacting', trigger: 'manual' }),
    ],
    at: 20.1,
    is: running,
  }),
  handCase('compaction-escaped', {
    signals: [
      prompt(1),
      screen(2, screens.working),
      ended(4, 'See above.'),
      hook(20, { kind: 'compacting', trigger: 'manual' }),
      screen(21, screens.working),
      screen(24, screens.calm),
      screen(30, screens.calm),
    ],
    at: 32,
    is: idle,
  }),
  handCase('compacted-by-hand', {
    signals: [
      prompt(1),
      ended(4, 'See above.'),
      screen(20, screens.working),
      hook(24, { kind: 'compacted', trigger: 'manual' }),
      hook(24.1, { kind: 'subagent-end', agentId: 'c', agentType: '' }),
    ],
    at: 30,
    is: idle,
  }),
  handCase('compacted-in-the-turn', {
    signals: [
      prompt(1),
      began(2, 'c1'),
      over(4, 'c1'),
      hook(30, { kind: 'compacted', trigger: 'auto' }),
      hook(30.2, { kind: 'ready', reason: 'compact' }),
    ],
    at: 33,
    is: { ...running, activity: 'thinking' },
  }),
]
