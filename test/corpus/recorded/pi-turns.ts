import { began, hook, idle, line, over, ready, running, screen } from '../hand/hand-case.ts'
import { screens } from '../world.ts'
import type { Recording } from './recording.ts'

/** A turn with a tool, then an Escape that this CLI tells like any other end. */
export const piTurns: Recording = {
  name: 'turns',
  cli: 'pi',
  version: '0.74.2',
  signals: [
    ready(0.03),
    hook(1.2, { kind: 'prompt', origin: 'person' }),
    line(1.2, { kind: 'prompt', origin: 'person' }),
    line(1.27, { kind: 'tool-start', callId: 'call_2f', tool: 'bash', input: { command: 'echo tui' } }),
    began(1.27, 'call_2f', 'bash', { command: 'echo tui' }),
    over(1.29, 'call_2f', 'bash'),
    line(1.29, { kind: 'tool-end', callId: 'call_2f', ok: true }),
    line(1.29, { kind: 'text', text: 'hi from pi tui tui' }),
    hook(1.3, { kind: 'turn-end', background: 0, text: 'hi from pi tui tui' }),
    screen(2.4, screens.calm),
    hook(3.02, { kind: 'prompt', origin: 'person' }),
    line(3.02, { kind: 'prompt', origin: 'person' }),
    screen(4.2, screens.working),
    line(5.04, { kind: 'text', text: 'slow slow slow' }),
    line(5.04, { kind: 'interrupted' }),
    hook(5.04, { kind: 'turn-end', background: 0, text: 'slow slow slow' }),
    screen(5.8, screens.calm),
  ],
  probes: [
    { name: 'ended', at: 2.9, is: idle, without: { hooks: running } },
    { name: 'streaming', at: 4.5, is: { ...running, activity: 'thinking' } },
    { name: 'aborted', at: 6.3, is: idle },
    { name: 'aborted-for-long', at: 700, is: idle },
  ],
}
