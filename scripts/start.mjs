import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { found } from './found.mjs'
import { main, root } from './setup.mjs'

const next = [
  ['./sm open', 'the page, in a browser'],
  ['./sm doctor', 'find problems and how to fix them'],
  ['./sm help', 'every command'],
]

await main(async () => {
  // The launcher builds when something changed, and `up` prints the address as soon as the daemon answers.
  const up = spawnSync(join(root, 'sm'), ['up'], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  if (up.status !== 0) return up.status ?? 1
  print('Found on this machine', await found(process.env))
  showWork()
  print('Next', next)
  return 0
})

// What there is comes first; where nothing has happened yet, an agent shows what it does. Neither may end the start.
function showWork() {
  const shown = sm('demo', '--once') || sm('all')
  // It need not be on the path yet; what stands beside it keeps its column.
  const here = shown.replaceAll(
    /\n {2}sm (.*)/g,
    (_, rest) => `\n  ./sm ${rest.replace(/(?<=\S) {2}(?= {2})/, '')}`,
  )
  if (shown !== '') process.stdout.write(`\n${here}`)
}

function sm(...args) {
  const options = { cwd: root, stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' }
  return spawnSync(join(root, 'sm'), args, options).stdout ?? ''
}

function print(title, rows) {
  const width = Math.max(...rows.map(([term]) => term.length))
  const lines = rows.map(([term, about]) => `  ${term.padEnd(width)}  ${about}`)
  process.stdout.write(`\n${[title, ...lines].join('\n')}\n`)
}
