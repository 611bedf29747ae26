import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { toJsonSchema } from '../src/contract/session-file/message-payloads.ts'
import { openapi } from '../src/http/openapi.ts'
import { cliPage } from './docs/cli-page.ts'
import { configExample } from './docs/config-example.ts'
import { configPage } from './docs/config-page.ts'
import { errorsPage } from './docs/errors-page.ts'
import { eventsPage } from './docs/events-page.ts'
import { routesPage } from './docs/routes-page.ts'

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

/** Every page of the reference and what makes it. */
const pages: Readonly<Record<string, () => string>> = {
  'cli.md': cliPage,
  'events.md': eventsPage,
  'config.md': configPage,
  'config.example.yaml': configExample,
  'errors.md': errorsPage,
  'routes.md': routesPage,
  'openapi.json': () => json(openapi()),
  'std-008.schema.json': () => json(toJsonSchema()),
}

const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    out: { type: 'string', default: join(import.meta.dirname, '..', 'docs', 'reference') },
  },
})
const out = resolve(values.out)
if (values.check) {
  const stale = Object.entries(pages).filter(([name, make]) => readIfThere(join(out, name)) !== make())
  for (const [name] of stale) console.error(`${join(out, name)} is stale; run: npm run docs`)
  process.exitCode = stale.length === 0 ? 0 : 1
} else {
  mkdirSync(out, { recursive: true })
  for (const [name, make] of Object.entries(pages)) writeFileSync(join(out, name), make())
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
