import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commandEntries } from '../src/contract/cli.ts'
import { errorCodes } from '../src/contract/errors.ts'
import { catalogue, eventTypes, schemaVersion } from '../src/contract/event.ts'
import { sseTypes } from '../src/contract/event-definition.ts'
import { environmentNames, homeFiles } from '../src/contract/home.ts'
import { routeEntries } from '../src/contract/routes.ts'
import { wireVersions } from '../src/contract/version.ts'
import { homeFiles as daemonFiles } from '../src/daemon/home.ts'

// What others rely on is written out in `golden/pins`, a page for each kind. A changed line there is a change of the
// contract, and belongs in the CHANGELOG.
const pinned = async (page: string, lines: readonly string[]): Promise<void> =>
  expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`golden/pins/${page}.txt`)

test('[MUS-10][MUS-220][MUS-288] event types, and who may report each', () =>
  pinned('events', [
    `schema ${schemaVersion}`,
    ...eventTypes.map((type) => `${type}, ${catalogue[type].reporter}`).toSorted(),
  ]))

test('[MUS-88][MUS-109][MUS-220] error codes with their HTTP status and exit', () =>
  pinned(
    'errors',
    Object.entries(errorCodes).map(([code, { http, exit }]) => `${code}: HTTP ${http}, exit ${exit}`),
  ))

test('[MUS-220] routes', () =>
  pinned('routes', [
    `wire ${wireVersions.current}, reads from ${wireVersions.oldest}`,
    ...routeEntries
      .map(
        ([name, { method, path, access, answers }]) =>
          `${name}: ${method.toUpperCase()} ${path}, ${access}, ${answers}`,
      )
      .toSorted(),
  ]))

test('[MUS-220] names of the event stream', () => pinned('stream', sseTypes.toSorted()))

test('[MUS-220] commands', () => pinned('commands', commandEntries.map(([name]) => name).toSorted()))

const environment: readonly string[] = Object.values(environmentNames).toSorted()

test('[MUS-220] environment variables', () => pinned('environment', environment))

test('[MUS-220] no source reads a variable of ours that is not pinned', () => {
  const src = join(import.meta.dirname, '..', 'src')
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(?<!\.test)\.tsx?$/.test(file),
  )
  const named = files.flatMap(
    (file) => readFileSync(join(src, file), 'utf8').match(/\bMUSTER_[A-Z_]+\b/g) ?? [],
  )
  expect([...new Set(named)].toSorted()).toEqual(environment)
})

test('[MUS-220] files of the state folder', () =>
  pinned('files', [
    ...Object.entries(daemonFiles('~')).map(([name, path]) => `${name}: ${path}`),
    ...Object.entries(homeFiles).map(([name, file]) => `for others, ${name}: ${file}`),
  ]))
