import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Signal } from '../../../src/contract/signal.ts'
import type { CorpusCase } from '../corpus-case.ts'
import type { Recording } from './recording.ts'

const told = JSON.parse(readFileSync(join(import.meta.dirname, 'refused.json'), 'utf8')) as Readonly<
  Record<string, readonly Signal[]>
>

const retrying = { lifecycle: 'running', activity: 'thinking', health: 'retrying' } as const
const limited = { lifecycle: 'failed', activity: 'idle', waitingFor: 'limit', health: 'limited' } as const
const failed = { lifecycle: 'failed', activity: 'idle', health: 'ok' } as const

/** Providers that refuse: one CLI asks again for minutes, another gives up. Neither has ended its turn. */
export const refusals: readonly Recording[] = Object.entries(told).map(([name, signals]) => {
  const [program = '', status = ''] = name.split('/')
  const [cli, version] = program.split('-') as [CorpusCase['cli'], string]
  const at = Math.max(...signals.map((signal) => signal.at)) / 1000 + 1
  const unseen = { lifecycle: 'running', activity: 'thinking', health: 'ok' } as const
  return {
    name: `refused-with-${status}`,
    cli,
    version,
    signals,
    probes: [
      cli === 'claude'
        ? { name: 'asks-again', at, is: retrying, without: { screen: unseen } }
        : { name: 'gave-up', at, is: status === '429' ? limited : failed },
    ],
  }
})
