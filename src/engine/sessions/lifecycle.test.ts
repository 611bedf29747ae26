import { expect, test } from 'vitest'
import { Config } from '../../contract/config.ts'
import type { Draft } from '../../contract/event.ts'
import type { Lifecycle as State } from '../../contract/values.ts'
import { noEvidence } from '../../core/session/evidence/evidence.ts'
import { Lifecycle } from './lifecycle.ts'
import type { Parts } from './session-parts.ts'
import type { SessionWatch } from './session-watch.ts'

const now = 100_000

/** What one look writes about a session whose evidence is idle and which is shown in another state. */
async function told(shown: State): Promise<string[]> {
  const config = Config.parse({ child_agents: { auto_complete: { idle_after: 1 } } })
  const lifecycle = new Lifecycle({ clock: { now: () => now }, config: () => config } as unknown as Parts)
  const said: string[] = []
  const watch = {
    root: {},
    shown,
    verdict: { lifecycle: 'idle', since: now - 60_000, because: [] },
    evidence: noEvidence,
    state: () => ({ lifecycle: shown, managed: { name: 'worker' }, open: new Map() }),
    judgeOptions: () => ({ now, idleAfterMs: 600_000 }),
    say: async (drafts: readonly Draft[]) => void said.push(...drafts.map(({ type }) => type)),
  }
  const one = { watch: watch as unknown as SessionWatch, transcript: { settled: async () => {} } }
  await lifecycle.tick(one, 0)
  return said
}

test('[MUS-312] only a session that is shown idle is told to be: one that has not taken its prompt is not', async () => {
  expect(await told('idle')).toEqual(['agent.idle'])
  expect(await told('starting')).toEqual([])
})
