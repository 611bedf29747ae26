import { began, ended, hook, idle, line, over, ready, running, screen, status } from '../hand/hand-case.ts'
import { screens } from '../world.ts'
import type { Recording } from './recording.ts'

const touch = { command: 'touch perm.txt && echo made', description: 'make file' }
const questions = { questions: [{ question: 'Which colour?', header: 'Colour' }] }
const permission = { kind: 'permission', title: 'Do you want to proceed?', options: ['Yes', 'No'] } as const
const question = { kind: 'question', title: 'Which colour?', options: ['Red', 'Blue'] } as const
const asked = { lifecycle: 'waiting_input', activity: 'idle', health: 'ok' } as const
const usage = (second: number, responseId: string, finishReason: string) =>
  line(second, { kind: 'usage', responseId, model: 'm', usage: { output: 47 }, finishReason })

/** A permission, a question, then an Escape with a prompt in the queue. */
export const asks: Recording = {
  name: 'asks',
  cli: 'claude',
  version: '2.1.325',
  signals: [
    ready(-1),
    hook(0, { kind: 'prompt', origin: 'person', text: 'A' }),
    line(0.01, { kind: 'prompt', origin: 'person', text: 'A' }),
    line(0.36, { kind: 'text', text: 'need perm' }),
    usage(0.36, 'r1', 'tool_use'),
    line(0.36, { kind: 'tool-start', callId: 't1', tool: 'Bash', input: touch }),
    began(0.38, 't1', 'Bash', touch),
    hook(0.41, { kind: 'asking', ask: 'permission', tool: 'Bash', input: touch }),
    screen(1.4, { ...screens.blank, dialog: permission }),
    screen(5.8, { ...screens.blank, dialog: permission }),
    hook(6.45, { kind: 'asking', ask: 'permission', detail: 'Claude needs your permission' }),
    over(6.77, 't1'),
    line(6.79, { kind: 'tool-end', callId: 't1', ok: true }),
    line(6.86, { kind: 'text', text: 'A finished: made' }),
    usage(6.86, 'r2', 'end_turn'),
    ended(6.89, 'A finished: made'),
    status(6.95, { kind: 'idle' }),
    screen(7.3, screens.calm),
    hook(7.65, { kind: 'prompt', origin: 'person', text: 'B' }),
    line(7.66, { kind: 'prompt', origin: 'person', text: 'B' }),
    usage(7.72, 'r3', 'tool_use'),
    line(7.72, { kind: 'tool-start', callId: 't2', tool: 'AskUserQuestion', input: questions }),
    began(7.74, 't2', 'AskUserQuestion', questions),
    hook(7.76, { kind: 'asking', ask: 'question', tool: 'AskUserQuestion', input: questions }),
    screen(9, { ...screens.blank, dialog: question }),
    screen(13, { ...screens.blank, dialog: question }),
    over(14.35, 't2', 'AskUserQuestion'),
    line(14.37, { kind: 'tool-end', callId: 't2', ok: true }),
    line(14.45, { kind: 'text', text: 'B finished: Your questions have been answered' }),
    usage(14.45, 'r4', 'end_turn'),
    ended(14.47, 'B finished: Your questions have been answered'),
    status(14.5, { kind: 'idle' }),
    hook(15.21, { kind: 'prompt', origin: 'person', text: 'C' }),
    line(15.22, { kind: 'prompt', origin: 'person', text: 'C' }),
    screen(16.7, screens.working),
    hook(17.2, { kind: 'prompt', origin: 'person', text: 'queued message' }),
    line(17.22, { kind: 'prompt-queued', text: 'queued message' }),
    line(17.73, { kind: 'text', text: 'slowly streaming some text that takes a long time' }),
    line(17.74, { kind: 'interrupted' }),
    line(17.81, { kind: 'prompt', origin: 'person', text: 'queued message' }),
    line(17.85, { kind: 'text', text: 'x' }),
    usage(17.85, 'r5', 'end_turn'),
    ended(17.88, 'x'),
    status(17.95, { kind: 'idle' }),
    screen(19, screens.calm),
    screen(25, screens.calm),
  ],
  probes: [
    { name: 'permission', at: 6, is: { ...asked, waitingFor: 'permission' } },
    { name: 'nagged', at: 6.6, is: { ...asked, waitingFor: 'permission' } },
    { name: 'question', at: 13.5, is: { ...asked, waitingFor: 'question' } },
    { name: 'streaming', at: 17, is: running },
    { name: 'interrupted-and-went-on', at: 26, is: idle },
  ],
}
