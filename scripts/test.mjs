import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { programs } from './packages.mjs'
import { build, install, main, node24, root } from './setup.mjs'

await main(() => {
  install()
  programs()
  build()
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  // Tests start the daemon and `sm` hundreds of times: what was just built, and compiled once.
  const env = {
    ...process.env,
    MUSTER_TESTS_RUN: 'built',
    NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compiled'),
  }
  const done = spawnSync(node24, [vitest, 'run', ...process.argv.slice(2)], {
    cwd: root,
    env,
    stdio: 'inherit',
  })
  return done.status ?? 1
})
