// Runs a file on the project's own Node, installing it first where needed: node scripts/run.mjs FILE ARGS
import { spawnSync } from 'node:child_process'
import { install, main, node24, root } from './setup.mjs'

await main(() => {
  install()
  return spawnSync(node24, process.argv.slice(2), { cwd: root, stdio: 'inherit' }).status ?? 1
})
