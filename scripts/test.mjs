import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { programs } from './packages.mjs'
import { build, install, main, node24, root, say } from './setup.mjs'

await main(() => {
  const startedAt = performance.now()
  install()
  programs()
  build()
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const words = process.argv.slice(2)
  // Every CLI in every version, crews and kills at length, take as long as all other tests: npm run test:long.
  const isLong = words[0] === '--long'
  const named = isLong ? ['matrix', 'crews'] : ['pure', 'real']
  // Many of the long tests are real programs that answer late on a crowded machine: fewer of them at one time.
  const crowd = isLong ? [`--maxWorkers=${Math.ceil(availableParallelism() * 2.5)}`] : []
  const projects = words.some((word) => word.startsWith('--project'))
    ? []
    : named.map((name) => `--project=${name}`)
  // Tests start the daemon and `sm` hundreds of times: what was just built, and compiled once.
  const env = {
    ...process.env,
    MUSTER_TESTS_RUN: 'built',
    NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compiled'),
  }
  const done = spawnSync(node24, [vitest, 'run', ...projects, ...crowd, ...words.slice(isLong ? 1 : 0)], {
    cwd: root,
    env,
    stdio: 'inherit',
  })
  const seconds = Math.round((performance.now() - startedAt) / 1000)
  say(`took ${Math.floor(seconds / 60)} min ${seconds % 60} s in all`)
  return done.status ?? 1
})
