/**
 * A program for terminals under test: `node echo-tty.mjs REPORT MODE`. It asks for bracketed paste (`raw`, `plain` does
 * not) or reads whole lines (`lines`), says that it is ready by its title, and at Ctrl-D writes what it received.
 */
import { renameSync, writeFileSync } from 'node:fs'

const [report, mode] = process.argv.slice(2)
const isRaw = mode !== 'lines'
const chunks = []

const finish = () => {
  writeFileSync(`${report}.new`, Buffer.concat(chunks))
  renameSync(`${report}.new`, report)
  process.exit(0)
}
process.stdin.setRawMode?.(isRaw)
process.stdin.on('data', (chunk) => {
  const end = isRaw ? chunk.indexOf(4) : -1
  chunks.push(end === -1 ? chunk : chunk.subarray(0, end))
  if (end !== -1) finish()
})
process.stdin.on('end', finish)
if (mode === 'raw') process.stdout.write('\u001b[?2004h')
process.stdout.write('\u001b]2;ready\u0007')
