import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { install, main, node24, root } from './setup.mjs'

const tool = (path, ...args) => [join(root, 'node_modules', path), ...args]
const script = (name, ...args) => [join(root, 'scripts', name), ...args]

const remembered = ['--tsBuildInfoFile', join(root, 'dist', 'types.tsbuildinfo')]

/** Every check by its name; the slow ones first, so that the last one to start is short. */
const checks = {
  // What has not changed since the last time is not looked at again.
  types: tool('typescript/bin/tsc', '--noEmit', '-p', 'tsconfig.json', '--incremental', ...remembered),
  lint: tool('oxlint/bin/oxlint'),
  unused: tool('knip/bin/knip.js'),
  format: tool('@biomejs/biome/bin/biome', 'check', '--max-diagnostics=none'),
  reference: script('docs.ts', '--check'),
  rules: script('spec.ts'),
  imports: script('architecture.ts'),
}

await main(async () => {
  install()
  const names = process.argv.slice(2)
  const unknown = names.filter((name) => !(name in checks))
  if (unknown.length > 0)
    throw new Error(`no check ${unknown.join(', ')}; there are ${Object.keys(checks).join(', ')}`)
  const queue = names.length > 0 ? names : Object.keys(checks)
  const failed = []
  const worker = async () => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      const { ok, output, seconds } = await run(checks[name])
      process.stdout.write(`${ok ? 'ok    ' : 'FAILED'} ${name.padEnd(10)} ${seconds.toFixed(1)} s\n`)
      if (!ok) {
        failed.push(name)
        process.stdout.write(`${output.trimEnd()}\n\n`)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, worker))
  if (failed.length === 0) return 0
  process.stdout.write(`failed: ${failed.join(', ')}\n`)
  return 1
})

function run(args) {
  const startedAt = performance.now()
  return new Promise((resolve) => {
    const child = spawn(node24, args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NO_COLOR: '1' },
    })
    const pieces = []
    child.stdout.on('data', (piece) => pieces.push(piece))
    child.stderr.on('data', (piece) => pieces.push(piece))
    child.on('error', (error) => pieces.push(Buffer.from(String(error))))
    child.on('close', (code) =>
      resolve({
        ok: code === 0,
        output: Buffer.concat(pieces).toString(),
        seconds: (performance.now() - startedAt) / 1000,
      }),
    )
  })
}
