import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { type Figure, median, ratio } from './support/figure.ts'
import { withFolder } from './support/temp.ts'

export const about = '`sm version` and a round trip to the daemon against `node -e 0`, as a shell starts them'

const root = join(import.meta.dirname, '..')
const sm = join(root, 'sm')
const rounds = 25

/** The three alternate, so that a busy machine slows all of them. */
export async function run(): Promise<Figure[]> {
  return withFolder(async (home) => {
    const env = { ...process.env, HOME: home, MUSTER_HOME: join(home, 'state') }
    execFileSync(sm, ['up'], { env, stdio: 'ignore' })
    try {
      const time = (file: string, args: string[]): number => {
        const start = performance.now()
        const { status } = spawnSync(file, args, { env, stdio: 'ignore' })
        if (status !== 0) throw new Error(`${file} ${args.join(' ')} ended with ${status}`)
        return performance.now() - start
      }
      const bare: number[] = []
      const version: number[] = []
      const trip: number[] = []
      for (let i = 0; i < rounds + 3; i++) {
        bare.push(time(process.execPath, ['-e', '0']))
        version.push(time(sm, ['version']))
        trip.push(time(sm, ['journal', 'stats']))
      }
      // The first rounds fill the compile cache.
      const of = (times: readonly number[]) => times.slice(3).map((ms, i) => ms / (bare[i + 3] as number))
      return [
        { what: 'node -e 0', value: Math.round(median(bare)), unit: 'ms' },
        ratio('sm version / node -e 0', median(of(version)), { atMost: 2.5 }),
        ratio('a round trip (sm journal stats) / node -e 0', median(of(trip)), { atMost: 3.5 }),
      ]
    } finally {
      spawnSync(sm, ['down'], { env, stdio: 'ignore' })
    }
  })
}
