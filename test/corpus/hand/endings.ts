import type { CorpusCase } from '../corpus-case.ts'
import { began, ended, handCase, hook, idle, line, over, prompt, running } from './hand-case.ts'

const work = [prompt(1), began(2, 'c1'), over(4, 'c1')]

/** Whether the work is complete, where words and signs pull apart. */
export const endings: readonly CorpusCase[] = [
  handCase('a-subagent-says-done', {
    signals: [...work, hook(6, { kind: 'turn-end', background: 0, text: 'Done.', agent: 'a1' })],
    at: 10,
    is: running,
  }),
  handCase('done-of-the-conversation-before', {
    signals: [
      ...work,
      ended(6, 'Done.'),
      hook(20, { kind: 'gone', reason: 'clear' }),
      hook(20.1, { kind: 'ready', reason: 'clear' }),
    ],
    at: 900,
    is: idle,
  }),
  handCase('done-before-the-last-tool', {
    signals: [
      ...work,
      line(5, { kind: 'text', text: 'Done.' }),
      began(6, 'c2'),
      over(7, 'c2'),
      hook(8, { kind: 'turn-end', background: 0 }),
    ],
    at: 900,
    is: idle,
  }),
  handCase('ended-without-a-word', {
    signals: [...work, hook(8, { kind: 'turn-end', background: 0 })],
    at: 900,
    is: idle,
  }),
  handCase('done-without-tools', {
    signals: [prompt(1), ended(4, 'Done.')],
    at: 10,
    is: { ...idle, complete: true },
  }),
  handCase('answer-without-tools', { signals: [prompt(1), ended(4, 'It is 42.')], at: 900, is: idle }),
  handCase('one-second-before-the-timeout', {
    signals: [...work, ended(6, 'Wrote the report to `report.md`.')],
    at: 605.9,
    is: idle,
  }),
  handCase('at-the-timeout', {
    signals: [...work, ended(6, 'Wrote the report to `report.md`.')],
    at: 606,
    is: { ...idle, complete: true },
  }),
  handCase('done-and-a-question-open', {
    signals: [
      ...work,
      hook(5, { kind: 'asking', ask: 'question', tool: 'AskUserQuestion', agent: 'a1' }),
      ended(6, 'Done.'),
    ],
    at: 10,
    is: { lifecycle: 'waiting_input', waitingFor: 'question' },
  }),
  handCase('done-with-a-server-running', {
    signals: [...work, ended(6, 'Done.', 1)],
    at: 2000,
    is: { lifecycle: 'idle', waitingFor: 'background' },
  }),
  handCase('done-after-a-task-note', {
    signals: [
      ...work,
      ended(6, 'Launched.', 1),
      hook(60, { kind: 'prompt', origin: 'task' }),
      ended(64, 'Both reviews are in. Done.'),
    ],
    at: 70,
    is: { ...idle, complete: true },
  }),
  handCase('done-in-a-code-block', {
    signals: [...work, ended(6, 'The script prints:\n```\nDone.\n```\nShall I run it?')],
    at: 900,
    is: idle,
  }),
  handCase('done-in-a-file-name', {
    signals: [...work, ended(6, 'I look at `done.ts` next.')],
    at: 900,
    is: idle,
  }),
  handCase('done-inside-a-word', {
    signals: [...work, ended(6, 'The London office abandoned it.')],
    at: 20,
    is: idle,
  }),
  handCase('done-with-an-apostrophe', {
    signals: [...work, ended(6, 'That isn’t done.')],
    at: 900,
    is: idle,
  }),
  handCase('pattern-with-signs', {
    signals: [...work, ended(6, 'All checks are [ok] (100%)')],
    at: 10,
    config: { patterns: ['[ok] (100%)', 'a+b'] },
    is: { ...idle, complete: true },
  }),
  handCase('pattern-of-two-words-over-a-line', {
    signals: [...work, ended(6, 'Now ship  it.')],
    at: 10,
    config: { patterns: ['ship it'] },
    is: { ...idle, complete: true },
  }),
  handCase('milestone-half-way', {
    signals: [...work, ended(6, 'See the checkpoint.')],
    at: 10,
    config: { milestone: 'Phase 1 complete (3/5)' },
    is: idle,
  }),
  handCase('milestone-at-the-end', {
    signals: [...work, ended(6, 'See the checkpoint.')],
    at: 10,
    config: { milestone: 'All tasks complete (5/5)' },
    is: { ...idle, complete: true },
  }),
]
