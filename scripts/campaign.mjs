import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { build, install, main, node24, root } from './setup.mjs'

const usage = 'npm run campaign NAME -- [--seed N] [--runs N] [--minutes N]'

await main(() => {
  const folder = join(root, 'test', 'campaigns')
  const names = existsSync(folder)
    ? readdirSync(folder)
        .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
        .map((file) => file.slice(0, -'.ts'.length))
        .sort()
    : []
  const [name, ...options] = process.argv.slice(2)
  if (name === undefined) {
    process.stdout.write(`${usage}\n\n${names.length === 0 ? 'There are no campaigns.' : names.join('\n')}\n`)
    return 0
  }
  if (!names.includes(name)) throw new Error(`no campaign ${name}; there are: ${names.join(', ') || 'none'}`)
  install()
  build()
  const env = { ...process.env, MUSTER_CAMPAIGN: name, ...settings(options) }
  return spawnSync(node24, [join(folder, `${name}.ts`)], { cwd: root, env, stdio: 'inherit' }).status ?? 1
})

/** `--seed 7` becomes MUSTER_CAMPAIGN_SEED=7, so that a campaign reads the same from a shell and from here. */
function settings(words) {
  const found = {}
  for (let i = 0; i < words.length; i += 2) {
    const option = /^--([a-z][a-z-]*)$/.exec(words[i])
    if (option === null || words[i + 1] === undefined)
      throw new Error(`${words[i]} is not an option; ${usage}`)
    found[`MUSTER_CAMPAIGN_${option[1].toUpperCase().replaceAll('-', '_')}`] = words[i + 1]
  }
  return found
}
