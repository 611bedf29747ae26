import { expect } from 'vitest'
import type { MultiAgentSession } from '../../src/contract/session-file/multi-agent-session.ts'
import { parseJsonText } from '../../src/core/json/parse-json-text.ts'
import { readSession } from '../../src/session-file/read-session.ts'
import { validateSession } from '../../src/session-file/validate.ts'
import { goldenText, single } from './std-008.ts'

type Json = Record<string, unknown>

/** A golden file read; it must be valid then, and a second reading must find nothing to do. */
export function golden(name: string) {
  const read = readSession(parseJsonText(goldenText(`${name}.json`)), { filename: `${name}.json` })
  expect(validateSession(read.session).errors).toEqual([])
  const again = readSession(JSON.parse(JSON.stringify(read.session)))
  expect([again.repairs, again.session]).toEqual([[], read.session])
  return {
    ...read,
    session: read.session as MultiAgentSession & Json,
    done: read.repairs.map(({ code, path }) => `${code} ${path}`),
  }
}

/** A session of one agent read after a change; it must be valid then. */
export function withChange(change: (session: Json) => void) {
  const session = single() as unknown as Json
  change(session)
  const read = readSession(session)
  expect(validateSession(read.session).errors).toEqual([])
  return {
    session: read.session as unknown as Json,
    done: read.repairs.map(({ code, path }) => `${code} ${path}`),
  }
}
