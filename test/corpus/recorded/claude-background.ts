import { began, ended, hook, idle, line, over, running, screen } from '../hand/hand-case.ts'
import { screens } from '../world.ts'
import type { Recording } from './recording.ts'

const agent = { agentId: 'aebb7dc8d92cf23f0', agentType: 'general-purpose' } as const
const usage = (second: number, responseId: string, finishReason: string) =>
  line(second, { kind: 'usage', responseId, model: 'm', usage: { output: 9 }, finishReason })

/** An asynchronous subagent that outlives the turn, and a call of the provider that fails. */
export const background: Recording = {
  name: 'background',
  cli: 'claude',
  version: '2.1.325',
  signals: [
    hook(0, { kind: 'prompt', origin: 'person', text: 'A' }),
    line(0.01, { kind: 'prompt', origin: 'person', text: 'A' }),
    line(0.11, { kind: 'text', text: 'spawning' }),
    usage(0.11, 'r1', 'tool_use'),
    began(0.12, 't1', 'Agent', { description: 'sub task' }),
    line(0.12, { kind: 'tool-start', callId: 't1', tool: 'Agent', input: { description: 'sub task' } }),
    hook(0.15, { kind: 'subagent-start', ...agent }),
    over(0.2, 't1', 'Agent'),
    line(0.22, { kind: 'tool-end', callId: 't1', ok: true }),
    line(0.32, { kind: 'text', text: 'A finished: Async agent launched successfully.' }),
    usage(0.32, 'r2', 'end_turn'),
    ended(0.34, 'A finished: Async agent launched successfully.', 1),
    line(0.36, { kind: 'turn-end', background: 1 }),
    hook(0.4, { kind: 'tool-start', callId: 's1', tool: 'Bash', agent: agent.agentId }),
    screen(1.3, screens.calm),
    hook(2.45, { kind: 'tool-end', callId: 's1', ok: true, agent: agent.agentId }),
    hook(2.47, { kind: 'subagent-end', ...agent, text: 'SUBRESULT: from-subagent' }),
    hook(2.49, { kind: 'prompt', origin: 'task' }),
    line(2.5, { kind: 'prompt', origin: 'task' }),
    line(2.54, { kind: 'text', text: 'done.' }),
    usage(2.54, 'r3', 'end_turn'),
    ended(2.56, 'done.'),
    line(2.57, { kind: 'turn-end', background: 0 }),
    screen(3, screens.calm),
    hook(10.43, { kind: 'prompt', origin: 'person', text: 'D' }),
    line(10.44, { kind: 'prompt', origin: 'person', text: 'D' }),
    line(10.61, { kind: 'text', text: 'API Error: 400 scripted bad request' }),
    line(10.61, { kind: 'turn-failed', error: 'API Error: 400 scripted bad request', status: 400 }),
    hook(10.62, { kind: 'turn-failed', error: 'unknown' }),
    line(10.62, { kind: 'turn-end', background: 0 }),
    screen(11.8, { ...screens.calm, error: 'API Error: 400 scripted bad request' }),
    screen(17, { ...screens.calm, error: 'API Error: 400 scripted bad request' }),
  ],
  probes: [
    { name: 'agent-runs', at: 2, is: { ...running, waitingFor: 'background' } },
    { name: 'agent-ended', at: 9.9, is: { ...idle, complete: true } },
    { name: 'failed', at: 18, is: { lifecycle: 'failed', activity: 'idle', health: 'ok' } },
  ],
}
