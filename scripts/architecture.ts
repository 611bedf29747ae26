import { resolve } from 'node:path'
import { draw } from './architecture/draw.ts'
import { violations } from './architecture/violations.ts'

const [argument] = process.argv.slice(2)
if (argument === '--draw') console.log(draw())
else {
  const found = violations(resolve(argument ?? resolve(import.meta.dirname, '..', 'src')))
  for (const violation of found) console.error(violation)
  process.exitCode = found.length === 0 ? 0 : 1
}
