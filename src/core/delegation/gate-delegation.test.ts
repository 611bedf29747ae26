import fc from 'fast-check'
import { expect, test } from 'vitest'
import { planTask } from '../../../test/support/collaboration.ts'
import type { Assignment } from './assignment.ts'
import { developerInput } from './developer-work.ts'
import { type GatedAgent, gateCall } from './gate-call.ts'
import { type Allowed, type DelegationRequest, gateDelegation, usualTimeMs } from './gate-delegation.ts'

const agent = (fields: Partial<GatedAgent> = {}): GatedAgent => ({
  name: 'architect',
  kind: 'main',
  tools: ['Read', 'Task'],
  policy: { allow: ['Delegate'], delegateTargets: 'any' },
  workGlobs: [],
  ...fields,
})
const developer = agent({
  name: 'developer',
  kind: 'subagent',
  tools: ['Read', 'Write', 'Bash'],
  policy: { allow: ['Patch'], delegateTargets: 'any' },
})
const given = (scope?: readonly string[]): Assignment => {
  const input = developerInput({ task: planTask('a'), attempts: [] })
  const constraints = scope ? { scope: [...scope] } : {}
  return { kind: 'developer', taskId: 'a', input: { ...input, constraints } }
}
const words: Assignment = { kind: 'text', taskId: 'a', prompt: 'Look.' }
const asked = (more: Partial<DelegationRequest> = {}): DelegationRequest => ({
  from: { agent: agent(), depth: 0 },
  to: { name: 'developer', agent: developer },
  assignment: words,
  ...more,
})
const denial = (request: DelegationRequest) => {
  const answer = gateDelegation(request)
  return 'gate' in answer ? answer : undefined
}
const allowed = (request: DelegationRequest): Allowed => {
  const answer = gateDelegation(request)
  return 'gate' in answer ? expect.unreachable(answer.reason) : answer
}

test.each<[string, Partial<DelegationRequest>, string]>([
  ['no agent of that name', { to: { name: 'nobody', agent: undefined } }, 'target'],
  ['a main agent', { to: { name: 'coder', agent: agent({ name: 'coder' }) } }, 'target'],
  ['from a subagent', { from: { agent: { ...agent(), kind: 'subagent' }, depth: 0 } }, 'subagent'],
  ['from below', { from: { agent: agent(), depth: 1 } }, 'subagent'],
  [
    'a target that its policy does not name',
    {
      from: {
        agent: agent({ policy: { allow: ['Delegate'], delegateTargets: ['reviewer'] } }),
        depth: 0,
      },
    },
    'policy.delegate_targets',
  ],
  ['without the tool', { from: { agent: agent({ tools: ['Read'] }), depth: 0 } }, 'tools'],
  [
    'without the policy',
    { from: { agent: agent({ policy: { allow: [], delegateTargets: 'any' } }), depth: 0 } },
    'policy.Delegate',
  ],
  ['without time', { from: { agent: agent(), depth: 0, leftMs: 0 } }, 'time'],
  [
    'a scope that the delegator has nothing of',
    { from: { agent: agent(), depth: 0, scopes: [['docs/**']] }, assignment: given(['src/**']) },
    'scope',
  ],
  [
    'two scopes that name no common file',
    { assignment: given(['src/a/**']), wanted: { scope: ['src/b/**'] } },
    'scope',
  ],
])('[MUS-351] no delegation: %s', (_, more, rule) => {
  expect(denial(asked(more))?.rule).toBe(rule)
})

test('[MUS-351] a scope of the input is a limit like the one that is asked for, and that of the delegator', () => {
  const from = { agent: agent(), depth: 0, scopes: [['src/**'], []] }
  const { scopes } = allowed(asked({ from, assignment: given(['src/a/**']), wanted: { scope: ['**/*.ts'] } }))
  const writes = (path: string) =>
    gateCall({ agent: developer, depth: 1, scopes }, { tool: 'Write', changes: [path] })
  expect(writes('src/a/x.ts')).toBeUndefined()
  for (const path of ['src/b/x.ts', 'src/a/x.md', 'docs/a.ts'])
    expect(writes(path)).toMatchObject({ gate: 'scope', rule: 'scope' })
  expect(writes('src/b/x.ts')?.reason).toContain('src/a/**')
})

test('[MUS-351] tools are narrowed, never widened', () => {
  const tools = (wanted?: readonly string[]) => allowed(asked({ wanted: { tools: wanted } })).tools
  expect(tools()).toEqual(['Read', 'Write', 'Bash'])
  expect(tools(['Read', 'Task'])).toEqual(['Read'])
})

test.each<[string, Partial<DelegationRequest>, number]>([
  ['a developer', { assignment: given() }, 10],
  [
    'a reviewer',
    { assignment: { kind: 'reviewer', taskId: 'r', input: { task_id: 'a', review_id: 'r' } } },
    5,
  ],
  ['words', {}, 30],
  ['as long as is asked for', { assignment: given(), wanted: { timeoutMs: 20 * 60_000 } }, 20],
  ['what the delegator has left', { from: { agent: agent(), depth: 0, leftMs: 60_000 } }, 1],
])('[MUS-351][COL-67][COL-68] the time of %s', (_, more, minutes) => {
  expect(allowed(asked(more)).timeoutMs).toBe(minutes * 60_000)
})

const glob = fc.constantFrom('src/**', 'src/a/**', 'src/b/**', '**/*.ts', 'docs/*.md', '*')
const scope = fc.array(glob, { minLength: 1, maxLength: 3 })
const path = fc.constantFrom('src/a/x.ts', 'src/b/y.ts', 'docs/a.md', 'README.md', 'src/a/x.md')

test('[MUS-351] nothing that is let through may change more, or take longer, than whoever gave it', () => {
  fc.assert(
    fc.property(
      fc.array(scope, { maxLength: 2 }),
      fc.option(scope, { nil: undefined }),
      fc.option(scope, { nil: undefined }),
      path,
      fc.integer({ min: 1, max: 60 * 60_000 }),
      (scopes, own, wanted, file, leftMs) => {
        const from = {
          agent: agent({ policy: { allow: ['Delegate', 'Patch'], delegateTargets: 'any' } }),
          depth: 0,
          scopes,
          leftMs,
        }
        const answer = gateDelegation(asked({ from, assignment: given(own), wanted: { scope: wanted } }))
        if ('gate' in answer) return
        const act = { tool: 'Write', changes: [file] }
        const may = (limits: readonly (readonly string[])[]) =>
          gateCall({ agent: { ...developer, tools: ['*'] }, depth: 1, scopes: limits }, act) === undefined
        const each = [...scopes, ...(own ? [own] : []), ...(wanted ? [wanted] : [])]
        expect(may(answer.scopes)).toBe(each.every((limit) => may([limit])))
        expect(answer.timeoutMs).toBeLessThanOrEqual(Math.min(leftMs, usualTimeMs.developer))
      },
    ),
  )
})
