import { began, hook, idle, line, screen } from '../hand/hand-case.ts'
import { screens } from '../world.ts'
import type { Recording } from './recording.ts'

const touch = { command: 'touch x', description: 'x' }
const dialog = { kind: 'permission', title: 'Do you want to proceed?', options: ['Yes', 'No'] } as const
const retry = (attempt: number) => ({ ...screens.working, retry: { attempt, of: 10 } })
const running = { lifecycle: 'running', health: 'ok' } as const

/** Escape in text, in a dialog and in retries; the last leaves nothing in the transcript. */
export const escapes: Recording = {
  name: 'escapes',
  cli: 'claude',
  version: '2.1.325',
  signals: [
    hook(0, { kind: 'prompt', origin: 'person', text: 'W' }),
    line(0.01, { kind: 'prompt', origin: 'person', text: 'W' }),
    screen(2, screens.working),
    line(3.31, { kind: 'text', text: 'slow slow slow' }),
    line(3.32, { kind: 'interrupted' }),
    screen(3.9, screens.calm),
    hook(4.6, { kind: 'prompt', origin: 'person', text: 'P' }),
    line(4.61, { kind: 'prompt', origin: 'person', text: 'P' }),
    line(4.74, { kind: 'tool-start', callId: 't1', tool: 'Bash', input: touch }),
    began(4.76, 't1', 'Bash', touch),
    hook(4.78, { kind: 'asking', ask: 'permission', tool: 'Bash', input: touch }),
    screen(5.6, { ...screens.blank, dialog }),
    line(5.86, { kind: 'tool-end', callId: 't1', ok: false, error: "The user doesn't want to proceed" }),
    line(5.86, { kind: 'interrupted' }),
    line(5.87, { kind: 'turn-end', background: 0 }),
    screen(6.6, screens.calm),
    hook(7.04, { kind: 'prompt', origin: 'person', text: 'E' }),
    line(7.05, { kind: 'prompt', origin: 'person', text: 'E' }),
    screen(9, retry(2)),
    screen(13, retry(4)),
    // Escape here puts the prompt back into the box and writes no line.
    screen(13.9, screens.draft),
    screen(14.4, screens.draft),
    hook(14.46, { kind: 'prompt', origin: 'person', text: 'E R' }),
    line(14.47, { kind: 'prompt', origin: 'person', text: 'E R' }),
    screen(18.5, retry(3)),
    screen(19.4, screens.draft),
    screen(26, screens.draft),
  ],
  probes: [
    { name: 'interrupted', at: 4.5, is: idle, without: { transcript: running } },
    { name: 'dialog-escaped', at: 7, is: idle, without: { transcript: running, hooks: idle } },
    {
      name: 'retrying',
      at: 13.4,
      is: { lifecycle: 'running', health: 'retrying' },
      without: { screen: running },
    },
    { name: 'escaped-without-a-trace', at: 27, is: idle, without: { screen: running } },
  ],
}
