import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type Act,
  type Caller,
  type GatedAgent,
  gateCall,
  gateForeignCall,
  handoffLoop,
} from './gate-call.ts'

const agent = (fields: Partial<GatedAgent> = {}): GatedAgent => ({
  name: 'lead',
  kind: 'main',
  tools: ['*'],
  policy: { allow: ['Patch', 'Finalize', 'Delegate'], delegateTargets: 'any' },
  workGlobs: [],
  ...fields,
})
const main = (fields: Partial<GatedAgent> = {}): Caller => ({ agent: agent(fields), depth: 0 })
const sub = (fields: Partial<GatedAgent> = {}): Caller => ({
  agent: agent({ name: 'search', kind: 'subagent', ...fields }),
  depth: 1,
})
const to = (target: GatedAgent | undefined, name = target?.name ?? 'nobody') => ({ name, agent: target })
const coder = agent({ name: 'coder' })
const search = agent({ name: 'search', kind: 'subagent' })
const plan = agent({ name: 'plan', kind: 'subagent' })

describe('who may reach whom', () => {
  test.each<[string, Caller, Act, string | undefined]>([
    ['[RUN-13] main messages main', main(), { tool: 'SendMessage', target: to(coder) }, undefined],
    ['[RUN-14] main delegates to a subagent', main(), { tool: 'Task', target: to(search) }, undefined],
    ['[RUN-16] a subagent messages a subagent', sub(), { tool: 'SendMessage', target: to(plan) }, 'subagent'],
    ['[RUN-16] a subagent delegates to a subagent', sub(), { tool: 'Task', target: to(plan) }, 'subagent'],
    ['[RUN-17] a subagent delegates to a main agent', sub(), { tool: 'Task', target: to(coder) }, 'subagent'],
    ['[RUN-17] a subagent hands off', sub(), { tool: 'Handoff', target: to(coder) }, 'subagent'],
    [
      '[RUN-18] a main agent at depth 1 delegates',
      { ...main(), depth: 1 },
      { tool: 'Task', target: to(search) },
      'subagent',
    ],
    ['[RUN-14] main delegates to main', main(), { tool: 'Task', target: to(coder) }, 'target'],
    ['[RUN-13] main messages a subagent', main(), { tool: 'SendMessage', target: to(search) }, 'target'],
    ['[RUN-13] main messages itself', main(), { tool: 'SendMessage', target: to(agent()) }, 'target'],
    ['[RUN-4] a forged target', main(), { tool: 'Task', target: to(undefined, '../search') }, 'target'],
    ['[RUN-4] no target at all', main(), { tool: 'Task' }, 'target'],
    [
      '[RUN-4] a target outside of delegate_targets',
      main({ policy: { allow: ['Delegate'], delegateTargets: ['plan'] } }),
      { tool: 'Task', target: to(search) },
      'policy.delegate_targets',
    ],
    [
      '[RUN-4] a target among delegate_targets',
      main({ policy: { allow: ['Delegate'], delegateTargets: ['search'] } }),
      { tool: 'Task', target: to(search) },
      undefined,
    ],
  ])('%s', (_what, caller, act, rule) => {
    expect(gateCall(caller, act)?.rule).toBe(rule)
  })
})

describe('what may be done', () => {
  test('[RUN-20][RUN-21] a tool that is not listed is denied, `*` lists all', () => {
    expect(gateCall(main({ tools: ['Read'] }), { tool: 'Bash' })).toMatchObject({ gate: 'tool' })
    expect(gateCall(main({ tools: ['Read'] }), { tool: 'Read' })).toBeUndefined()
    expect(gateCall(main({ tools: [] }), { tool: 'Read' })).toMatchObject({ gate: 'tool' })
    expect(gateCall(main(), { tool: 'Bash' })).toBeUndefined()
  })

  test.each([
    'AskUserQuestion',
    'TodoWrite',
    'EnterPlanMode',
    'ExitPlanMode',
    'TaskCreate',
    'TaskUpdate',
    'TaskList',
  ])(
    '[RUN-20, COL-14, COL-18] %s is a tool like any other: who does not list it does not have it',
    (tool) => {
      for (const gate of [gateCall, gateForeignCall]) {
        expect(gate(sub({ tools: ['Read', 'Grep'] }), { tool })).toMatchObject({
          gate: 'tool',
          rule: 'tools',
        })
        expect(gate(sub({ tools: ['Read', tool] }), { tool })).toBeUndefined()
        expect(gate(sub(), { tool })).toBeUndefined()
      }
    },
  )

  test('[MUS-269] notes and questions of another program are told by its own names', () => {
    const rule = (tool: string) =>
      gateForeignCall(main({ tools: ['Read', 'AskUserQuestion'] }), { tool })?.rule
    for (const tool of ['update_plan', 'todowrite', 'write_todos']) expect(rule(tool)).toBe('tools')
    for (const tool of ['ask_user', 'question']) expect(rule(tool)).toBeUndefined()
  })

  test.each([
    ['Write', 'Patch'],
    ['Edit', 'Patch'],
    ['Finalize', 'Finalize'],
    ['Task', 'Delegate'],
  ])('[RUN-3][RUN-23] %s needs the policy %s, of a subagent too', (tool, rule) => {
    for (const caller of [main, sub])
      expect(gateCall(caller({ policy: { allow: [], delegateTargets: 'any' } }), { tool })).toMatchObject({
        gate: 'policy',
        rule: `policy.${rule}`,
      })
  })

  test('[MUS-269] the same gates hold for the call of another program, under the names that it uses', () => {
    const reviewer = main({ tools: ['Read', 'Bash'], policy: { allow: [], delegateTargets: 'any' } })
    const rule = (tool: string, more: object = {}) => gateForeignCall(reviewer, { tool, ...more })?.rule
    expect(rule('Read')).toBeUndefined()
    expect(rule('write_file')).toBe('tools')
    expect(rule('run_shell_command', { command: 'rm -rf x' })).toBe('policy.Patch')
    expect(rule('shell', { command: 'npm test && sm complete done' })).toBeUndefined()
    const maker = main({ tools: ['*'], workGlobs: ['src/**'] })
    const scoped = (tool: string, path: string) => gateForeignCall(maker, { tool, changes: [path] })?.rule
    expect(scoped('apply_patch', 'docs/a.md')).toBe('work_globs')
    expect(scoped('Write', '../a')).toBe('workspace')
    expect(scoped('Write', 'src/a.ts')).toBeUndefined()
    expect(gateForeignCall(maker, { tool: 'Task' })).toBeUndefined()
  })

  test('[RUN-20] changes stay inside the project, the work globs and the scope of the task', () => {
    const caller = { ...main({ workGlobs: ['src/**', 'test'] }), scopes: [['src/api/**']] }
    const rule = (path: string) => gateCall(caller, { tool: 'Edit', changes: [path] })?.rule
    expect(rule('src/api/users.ts')).toBeUndefined()
    expect(rule('src/ui/page.ts')).toBe('scope')
    expect(rule('docs/guide.md')).toBe('work_globs')
    expect(rule('../other/x.ts')).toBe('workspace')
    expect(rule('/etc/passwd')).toBe('workspace')
  })
})

test('[RUN-23] no call of a subagent reaches another agent, whatever its file says', () => {
  const name = fc.constantFrom('coder', 'search', 'plan', 'lead')
  const target = fc.record({ name, kind: fc.constantFrom('main', 'subagent') })
  fc.assert(
    fc.property(
      fc.constantFrom('Task', 'SendMessage', 'Handoff'),
      target,
      fc.integer({ min: 1, max: 5 }),
      (tool, who, depth) => {
        const caller = { ...sub(), depth }
        expect(gateCall(caller, { tool, target: to(agent(who as Partial<GatedAgent>)) })).toBeDefined()
      },
    ),
  )
})

test('[MUS-258] control may go the same way three times, and the circle is named the fourth time', () => {
  const trail = ['lead']
  for (let i = 0; i < 3; i++) {
    expect(handoffLoop(trail, 'coder')).toBeUndefined()
    trail.push('coder')
    expect(handoffLoop(trail, 'lead')).toBeUndefined()
    trail.push('lead')
  }
  expect(handoffLoop(trail, 'coder')).toEqual(['coder', 'lead', 'coder'])
  expect(handoffLoop(trail, 'engineer')).toBeUndefined()
})
