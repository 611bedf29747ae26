import { expect, test } from 'vitest'
import type { SignalOf } from '../../contract/signal.ts'
import type { Managed } from '../session/managed.ts'
import { runsUnasked } from './permissions.ts'

const session: Managed = {
  origin: 'managed',
  name: 'developer-1',
  cli: 'claude',
  workingDir: '/w',
  policy: ['Patch'],
  startedAtMs: 0,
}
const flow: Managed = { ...session, origin: 'workflow', name: 'crew-1' }
const asking = (command: unknown, tool = 'Bash'): SignalOf<'asking'> => ({
  kind: 'asking',
  source: 'hook',
  at: 0,
  ask: 'permission',
  tool,
  input: { command },
})

test('[COL-14][MUS-209] only a role at the work of a workflow tests without a question, and does nothing else so', () => {
  expect(runsUnasked(session, flow, asking('npm test'))).toBe(true)
  expect(runsUnasked(session, flow, asking('npm test', 'run_shell_command'))).toBe(true)
  for (const command of ['curl http://a', 'npm test && rm -rf /', 'npm test > x', '', undefined])
    expect(runsUnasked(session, flow, asking(command)), String(command)).toBe(false)
  expect(runsUnasked(session, flow, asking('npm test', 'WebFetch'))).toBe(false)
  expect(runsUnasked(session, session, asking('npm test'))).toBe(false)
  expect(runsUnasked(session, undefined, asking('npm test'))).toBe(false)
  const { policy: _policy, ...roleless } = session
  expect(runsUnasked(roleless, flow, asking('npm test'))).toBe(false)
  expect(runsUnasked(session, flow, { ...asking('npm test'), ask: 'question' })).toBe(false)
})
