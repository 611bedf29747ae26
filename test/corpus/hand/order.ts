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

/** Signals that come late, twice, or disagree by a little. */
export const order: readonly CorpusCase[] = [
  handCase('late-stop-of-the-turn-before', {
    signals: [prompt(1), ended(5, 'See above.'), prompt(9), ended(5, 'See above.')],
    at: 12,
    is: { ...running, activity: 'thinking' },
  }),
  handCase('old-prompt-after-the-end', {
    signals: [ended(5, 'See above.'), prompt(1), line(1.02, { kind: 'prompt', origin: 'person' })],
    at: 12,
    is: idle,
  }),
  handCase('last-text-is-written-after-the-stop', {
    version: '2.1.197',
    signals: [
      prompt(1),
      ended(5, 'The list is in `a.md`.'),
      line(5.4, { kind: 'text', text: 'The list is in `a.md`.' }),
    ],
    at: 9,
    is: idle,
  }),
  handCase('result-line-after-the-stop', {
    signals: [
      prompt(1),
      began(2, 'c1'),
      ended(6, 'See above.'),
      line(6.2, { kind: 'tool-end', callId: 'c1', ok: true }),
    ],
    at: 9,
    is: idle,
  }),
  handCase('spinner-still-drawn-after-the-stop', {
    signals: [prompt(1), screen(3, screens.working), ended(6, 'See above.'), screen(7, screens.working)],
    at: 7.5,
    is: idle,
  }),
  handCase('spinner-long-after-the-stop', {
    signals: [prompt(1), screen(3, screens.working), ended(6, 'See above.'), screen(30, screens.working)],
    at: 31,
    is: running,
  }),
  handCase('transcript-head-dated-after-the-first-prompt', {
    cli: 'codex',
    version: '0.166.0',
    signals: [
      prompt(1),
      line(1.01, { kind: 'ready', foreignId: 'x' }),
      line(1.02, { kind: 'prompt', origin: 'person' }),
    ],
    at: 3,
    is: { ...running, activity: 'thinking' },
  }),
  handCase('prompt-and-start-in-one-moment', {
    signals: [prompt(1), ready(1)],
    at: 3,
    is: { ...running, activity: 'thinking' },
  }),
  handCase('end-and-prompt-in-one-moment', {
    signals: [prompt(1), ended(5, 'See above.'), line(5, { kind: 'prompt', origin: 'person' })],
    at: 20,
    is: idle,
  }),
  handCase('everything-three-times', {
    signals: [1, 2, 3].flatMap(() => [
      prompt(1),
      began(2, 'c1'),
      over(4, 'c1'),
      ended(6, 'See above.'),
      ready(0.5),
    ]),
    at: 12,
    is: idle,
  }),
  handCase('closing-line-after-an-interrupt', {
    signals: [
      prompt(1),
      line(4, { kind: 'text', text: 'Done with the first' }),
      line(4.01, { kind: 'interrupted' }),
      line(4.02, { kind: 'turn-end', background: 0, text: 'Done with the first' }),
    ],
    at: 900,
    is: idle,
  }),
  handCase('closing-line-before-an-interrupt', {
    cli: 'gemini',
    version: '0.61.0',
    signals: [
      prompt(1),
      began(2, 'c1'),
      hook(8, { kind: 'turn-end', background: 0, text: '[no response text]' }),
      line(8.4, { kind: 'interrupted' }),
    ],
    at: 900,
    is: idle,
  }),
  handCase('interrupt-that-looks-like-an-end', {
    cli: 'gemini',
    version: '0.61.0',
    signals: [
      prompt(1),
      began(2, 'c1'),
      over(4, 'c1'),
      hook(8, { kind: 'turn-end', background: 0, text: '[no response text]' }),
    ],
    at: 900,
    is: idle,
  }),
  handCase('queue-goes-on-without-a-word', {
    signals: [
      prompt(1),
      began(2, 'c1'),
      line(3, { kind: 'prompt-queued' }),
      over(4, 'c1'),
      ended(6, 'See above.'),
    ],
    at: 7,
    is: running,
  }),
  handCase('queue-was-taken-back', {
    signals: [
      prompt(1),
      began(2, 'c1'),
      line(3, { kind: 'prompt-queued' }),
      over(4, 'c1'),
      ended(6, 'See above.'),
      screen(9, screens.calm),
    ],
    at: 20,
    is: idle,
  }),
  handCase('idle-file-before-a-new-prompt', {
    signals: [prompt(1), ended(5, 'See above.'), status(5.1, { kind: 'idle' }), prompt(5.4)],
    at: 8,
    is: { ...running, activity: 'thinking' },
  }),
  handCase('sixty-calls', {
    signals: [
      prompt(1),
      ...Array.from({ length: 60 }, (_, i) => [began(2 + i * 2, `c${i}`), over(3 + i * 2, `c${i}`)]).flat(),
      // The first one is told again, long after its end was forgotten.
      began(2, 'c0'),
    ],
    at: 123,
    is: { ...running, activity: 'thinking' },
  }),
  handCase('lost-end-of-a-call', {
    signals: [prompt(1), began(2, 'c1'), line(40, { kind: 'text', text: 'Now I look at the next file.' })],
    at: 44,
    is: { ...running, activity: 'working' },
  }),
  handCase('two-calls-at-once-one-ended', {
    signals: [prompt(1), began(2, 'c1'), began(2.1, 'c2', 'Read'), over(3, 'c2', 'Read')],
    at: 30,
    is: { ...running, activity: 'calling_tool' },
  }),
  handCase('call-id-used-again', {
    cli: 'gemini',
    version: '0.61.0',
    signals: [prompt(1), began(2, 'same'), over(4, 'same'), began(10, 'same')],
    at: 14,
    is: { ...running, activity: 'calling_tool' },
  }),
  handCase('start-of-a-call-told-twice', {
    signals: [
      prompt(1),
      began(2, 'c1'),
      over(2.05, 'c1'),
      line(2.1, { kind: 'tool-start', callId: 'c1', tool: 'Bash' }),
    ],
    at: 5,
    is: { ...running, activity: 'thinking' },
  }),
  handCase('clock-an-hour-ahead', {
    signals: [prompt(3601), began(3602, 'c1')],
    at: 5,
    is: { ...running, activity: 'calling_tool' },
  }),
  handCase('read-again-after-a-restart', {
    signals: [prompt(1), began(2, 'c1'), over(9, 'c1')],
    at: 100,
    config: { resumedAt: 99_000 },
    is: { lifecycle: 'running', health: 'stale' },
  }),
  handCase('ended-before-a-restart', {
    signals: [prompt(1), began(2, 'c1'), over(9, 'c1'), ended(10, 'Done. All tests pass.')],
    at: 2000,
    config: { resumedAt: 1_999_000 },
    is: { lifecycle: 'idle', health: 'stale' },
  }),
  handCase('seen-after-a-restart', {
    signals: [
      prompt(1),
      began(2, 'c1'),
      over(9, 'c1'),
      line(1.02, { kind: 'prompt', origin: 'person' }),
      line(9.9, { kind: 'text', text: 'Done. All tests pass.' }),
      line(9.9, {
        kind: 'usage',
        responseId: 'r1',
        model: 'm',
        usage: { output: 9 },
        finishReason: 'end_turn',
      }),
      ended(10, 'Done. All tests pass.'),
      screen(2000, screens.calm),
    ],
    at: 2001,
    config: { resumedAt: 1_999_000 },
    is: { ...idle, complete: true },
  }),
  handCase('silence-before-a-restart-does-not-count', {
    signals: [
      prompt(1),
      began(2, 'c1'),
      over(9, 'c1'),
      ended(10, 'Wrote the report.'),
      screen(2000, screens.calm),
    ],
    at: 2001,
    config: { resumedAt: 1_999_000 },
    is: idle,
  }),
]
