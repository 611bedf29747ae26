import fc from 'fast-check'
import { expect, test } from 'vitest'
import { multiAgentSessions, agentSessions } from '/work/main/test/support/std-008-arbitraries.ts'
import { validateSession } from '/work/main/src/core/session-log/validate.ts'
import { readSession } from '/work/main/src/core/session-log/read-session.ts'
test('valid', () => {
  fc.assert(fc.property(fc.oneof(multiAgentSessions, agentSessions), (s) => {
    expect(validateSession(s).errors).toEqual([])
  }), {numRuns: 300})
})
test('no repairs needed', () => {
  fc.assert(fc.property(fc.oneof(multiAgentSessions, agentSessions), (s) => {
    const r = readSession(s)
    expect(r.session).toEqual(s)
  }), {numRuns: 300})
})
