import type { CorpusCase } from '../corpus-case.ts'
import { type Profile, profiles } from '../profiles.ts'
import { screens } from '../world.ts'
import { began, ended, handCase, hook, idle, line, prompt, running, screen, status } from './hand-case.ts'

const failed = { lifecycle: 'failed', activity: 'idle', health: 'ok' } as const
const broken = (second: number) =>
  status(second, { kind: 'turn-failed', error: 'it was cut off when its terminal went away' })
const returned = (second: number) => hook(second, { kind: 'ready', reason: 'resume' })

/** A terminal, a program or the daemon went away in the middle, for every CLI. */
export const restarts: readonly CorpusCase[] = profiles.flatMap((profile) => {
  const { cli, version } = profile
  const of = (name: string, told: Omit<Parameters<typeof handCase>[1], 'cli' | 'version'>) =>
    handCase(`${name}-${cli}-${version}`, { ...told, cli, version })
  const cutOff = [...asRecorded(profile), broken(20), returned(22), broken(22), screen(24, screens.calm)]
  return [
    of('cut-off-and-restored', { signals: cutOff, at: 40, is: failed }),
    of('cut-off-and-restored-for-long', {
      signals: [...cutOff, screen(3000, screens.calm)],
      at: 3001,
      is: failed,
    }),
    of('cut-off-and-told-to-continue', {
      signals: [...cutOff, prompt(60), screen(62, screens.working)],
      at: 63,
      is: { ...running, activity: 'thinking' },
    }),
    of('cut-off-and-cleared', {
      signals: [
        ...cutOff,
        hook(60, { kind: 'gone', reason: 'clear' }),
        hook(60.1, { kind: 'ready', reason: 'clear' }),
        screen(61, screens.calm),
      ],
      at: 70,
      is: idle,
    }),
    of('failed-before-this-daemon', {
      signals: [...asRecorded(profile), broken(9), screen(501, screens.calm)],
      at: 510,
      config: { resumedAt: 500_000 },
      is: failed,
    }),
    of('terminal-gone-in-the-turn', {
      signals: [prompt(1), began(2, 'c1'), screen(8, screens.working), status(10, { kind: 'exited' })],
      at: 30,
      is: { lifecycle: 'error', health: 'gone' },
    }),
    of('terminal-gone-at-rest', {
      signals: [prompt(1), ended(4, 'See above.'), screen(8, screens.calm), status(10, { kind: 'exited' })],
      at: 30,
      is: { lifecycle: 'error', health: 'gone' },
    }),
  ]
})

/** What a later daemon reads again of a turn that never ended. */
function asRecorded({ hasTranscript, bash }: Profile) {
  if (!hasTranscript) return []
  return [
    line(1, { kind: 'prompt', origin: 'person' }),
    line(3, { kind: 'tool-start', callId: 'c1', tool: bash, input: { command: 'make' } }),
  ]
}
