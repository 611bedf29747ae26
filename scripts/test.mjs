import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { programs } from './packages.mjs'
import { build, install, main, node24, root } from './setup.mjs'

await main(() => {
  install()
  programs()
  build()
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const done = spawnSync(node24, [vitest, 'run', ...process.argv.slice(2)], { cwd: root, stdio: 'inherit' })
  return done.status ?? 1
})
