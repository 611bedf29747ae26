import { expect, test } from 'vitest'
import { AgentFrontmatter, agentDefinition } from '../../contract/agent-definition.ts'
import { type CrewDefinition, CrewFile, crewDefinition } from '../../contract/crew-definition.ts'
import { findCrew } from './find-definition.ts'
import { resolveCrews } from './resolve-crews.ts'

const agent = (name: string, front: Record<string, unknown> = {}) =>
  agentDefinition(AgentFrontmatter.parse({ name, ...front }), {
    stem: name,
    prompt: 'Work.',
    source: 'user',
    file: `/a/${name}.md`,
    lines: {},
  })
const agents = [
  agent('architect', { aliases: ['Planner'] }),
  agent('challenger'),
  agent('developer', { policy: ['Patch'] }),
  agent('reviewer'),
  agent('tester', { policy: ['Patch'] }),
  agent('security'),
  agent('coder', { kind: 'main', policy: ['Patch'] }),
  agent('helper', { kind: 'subagent' }),
]
const lines = { name: 1, members: 2, 'members.0': 3, 'members.1': 4, 'members.1.agent': 5, 'members.2': 6 }

const crew = (members: unknown[], more: Record<string, unknown> = {}): CrewDefinition =>
  crewDefinition(CrewFile.parse({ name: 'it', description: 'x', members, ...more }), {
    stem: 'it',
    source: 'user',
    file: '/c/it.yaml',
    lines: { ...lines, ...(more['approve_plan'] === true && { approve_plan: 9 }) },
  })
const resolve = (...crews: CrewDefinition[]) =>
  resolveCrews({ crews, problems: [], shadowed: [], held: [] }, { agents, clis: ['claude', 'codex', 'mine'] })
const problems = (members: unknown[], more: Record<string, unknown> = {}) =>
  resolve(crew(members, more)).problems.map(({ line, severity, message }) => `${line} ${severity} ${message}`)

const role = (name: string, more: Record<string, unknown> = {}) => ({ role: name, ...more })

test.each([
  [['architect', 'developer', 'reviewer'], 'planned', ['plan', 'work', 'review']],
  [['architect', 'challenger', 'developer'], 'planned', ['plan', 'challenge', 'work']],
  [['developer', 'reviewer'], 'one_task', ['work', 'review']],
  [['developer'], 'one_task', ['work']],
  [['reviewer'], 'review', ['review']],
  [['reviewer', 'security'], 'review', ['review', 'review']],
])('[MUS-277] a crew of %j takes the way %s', (roles, flow, duties) => {
  const { crews, problems: found } = resolve(crew(roles.map((name) => role(name))))
  expect(found).toEqual([])
  expect(crews[0]).toMatchObject({ flow, members: duties.map((duty) => ({ duty })) })
  expect(crews[0]).not.toHaveProperty('lines')
})

test('[COL-69][MUS-277] any agent takes part: one that may change files takes tasks, one that may not judges', () => {
  const { crews, problems: found } = resolve(
    crew([
      role('architect'),
      role('developer'),
      role('tester'),
      role('audit', { agent: 'Security', cli: 'mine' }),
    ]),
  )
  expect(found).toEqual([])
  expect(crews[0]?.members.map(({ role: part, agent: name, duty, cli }) => [part, name, duty, cli])).toEqual([
    ['architect', 'architect', 'plan', undefined],
    ['developer', 'developer', 'work', undefined],
    ['tester', 'tester', 'work', undefined],
    ['audit', 'security', 'review', 'mine'],
  ])
})

test('[MUS-277] in a pipeline every member is a place in the row, in its order, whatever its role', () => {
  const { crews, problems: found } = resolve(
    crew([role('reviewer'), role('architect'), role('tester')], { pattern: 'pipeline' }),
  )
  expect(found).toEqual([])
  expect(crews[0]?.flow).toBe('pipeline')
  expect(crews[0]?.members.map(({ id, duty }) => `${id} ${duty}`)).toEqual([
    'reviewer stage',
    'architect stage',
    'tester stage',
  ])
})

test('[COL-70][RUN-13] peers are main agents, at least two, and each is one agent', () => {
  const pattern = { pattern: 'peer_to_peer' }
  const { crews, problems: found } = resolve(crew([role('coder'), role('coder')], pattern))
  expect(found).toEqual([])
  expect(crews[0]).toMatchObject({
    flow: 'peer_to_peer',
    members: [
      { id: 'coder', duty: 'peer' },
      { id: 'coder-2', duty: 'peer' },
    ],
  })
  expect(problems([role('coder'), role('helper')], pattern)).toEqual([
    '5 error helper is a subagent, and peers are main agents; name one with agent: (there are developer, tester, coder)',
  ])
  expect(problems([role('coder'), role('coder', { id: 'All' })], pattern)).toEqual([
    '4 error all stands for every member; choose another id',
  ])
  expect(problems([role('coder')], pattern)).toEqual([
    '2 error one alone agrees with nobody; add another member',
  ])
  expect(problems([role('coder', { count: 2 })], pattern)).toEqual([
    '3 error each of several peers is one agent; leave out count, and list each',
  ])
})

test('[COL-72] a vote is on the request with yes and no, or on a diff; more than half have to vote unless the file says so', () => {
  const consensus = (vote?: object) => ({ pattern: 'consensus', ...(vote && { vote }) })
  const three = [role('reviewer', { count: 2 }), role('developer')]
  const voteOf = (vote?: object) => resolve(crew(three, consensus(vote))).crews[0]?.vote
  expect(voteOf()).toEqual({ on: 'question', choices: ['yes', 'no'], quorum: 2 })
  expect(voteOf({ choices: ['a', 'b'], quorum: 1 })).toEqual({
    on: 'question',
    choices: ['a', 'b'],
    quorum: 1,
  })
  expect(voteOf({ on: 'diff' })).toEqual({ on: 'diff', choices: ['approve', 'reject'], quorum: 2 })
  expect(problems(three, consensus())).toEqual([])
  expect(problems(three, consensus({ quorum: 4 }))).toEqual([
    '1 error there are 3 voters, so 4 can never vote',
  ])
  expect(problems(three, consensus({ on: 'diff', choices: ['a', 'b'] }))).toEqual([
    '1 error on a diff the choices are approve and reject; leave them out',
  ])
  expect(problems([role('reviewer')], consensus())).toEqual([
    '2 error one alone is no vote; add another member, or give it a count',
  ])
  expect(problems([role('reviewer', { count: 32 }), role('developer')], consensus())).toEqual([
    '2 error 33 voters are too many; there can be 32',
  ])
  expect(problems(three, { ...consensus(), checks: { test: 'npm test' } })).toEqual([
    '1 error a consensus changes nothing, so no check is run; leave them out',
  ])
  expect(problems([role('developer')], { vote: { on: 'diff' } })).toEqual([
    '1 error nobody votes in master_worker; leave it out, or use consensus',
  ])
})

test('[COL-2][MUS-277] at most one architect, who orchestrates', () => {
  expect(problems([role('architect'), role('Architect'), role('developer')])).toEqual([
    '4 error a crew has one architect, who orchestrates; make this one a developer or a reviewer',
  ])
  expect(problems([role('architect', { count: 2 }), role('developer')])).toEqual([
    '3 error a crew has one architect, who orchestrates; leave out count',
  ])
})

test('[MUS-277] somebody has to do the work', () => {
  const message = '2 error nobody does the work; add a member with the role developer'
  expect(problems([role('architect'), role('reviewer')])).toEqual([message])
  expect(problems([role('architect')])).toEqual([message])
})

test('[MUS-277] what needs a plan needs an architect', () => {
  expect(problems([role('challenger'), role('developer')])).toEqual([
    '3 error a challenger needs a plan, and without an architect there is none; add an architect',
  ])
  const message = '9 error nobody makes a plan that could be approved; add an architect, or leave it out'
  expect(problems([role('developer')], { approve_plan: true })).toEqual([message])
  expect(problems([role('architect')], { approve_plan: true, pattern: 'pipeline' })).toEqual([message])
})

test('[MUS-277] members have names of their own, and a place in a pipeline is one agent', () => {
  expect(problems([role('developer', { id: 'a' }), role('reviewer', { id: 'A' })])).toEqual([
    '4 error two members are called a; give one another id',
  ])
  expect(problems([role('tester', { count: 2 })], { pattern: 'pipeline' })).toEqual([
    '3 error each member of a pipeline is one agent; leave out count',
  ])
})

test('[COL-7][MUS-277] an agent or a CLI that is not there leaves the crew out, with line and the nearest one', () => {
  const loaded = resolve(
    crew([role('developer'), role('reviewer', { agent: 'reviwer' }), role('oracle', { cli: 'codx' })]),
    { ...crew([role('developer', { cli: 'vim' })]), name: 'other', file: '/c/b.yaml' },
    { ...crew([role('developer')]), name: 'sound', file: '/c/z.yaml' },
  )
  expect(loaded.problems.map(({ file, line, message }) => `${file}:${line} ${message}`)).toEqual([
    '/c/b.yaml:3 vim is not a CLI; there are own, claude, codex, mine',
    '/c/it.yaml:5 there is no agent called reviwer; did you mean reviewer?',
    '/c/it.yaml:6 codx is not a CLI; did you mean codex?',
    '/c/it.yaml:6 there is no agent called oracle; see: sm agents list',
  ])
  expect(loaded.crews.map(({ name }) => name)).toEqual(['sound'])
  expect(() => findCrew(loaded, 'IT')).toThrow(
    'no crew IT; known: sound. A crew file was skipped; see: sm crews check',
  )
})

test('[MUS-277] a member whose agent does not suit its duty is doubted, and the crew is used', () => {
  const members = [role('developer', { agent: 'security' }), role('reviewer', { agent: 'tester' })]
  expect(problems(members)).toEqual([
    '3 warning the agent security may not change files, so it cannot do a task',
    '5 warning the agent tester may change files; who plans, challenges or judges should not',
  ])
  expect(resolve(crew(members)).crews).toHaveLength(1)
  expect(problems([role('developer')], { description: '' })).toEqual([
    '1 warning no description: nobody can tell when to use this crew',
  ])
})

test('[MUS-277] a crew is found by name and alias in any case, an unknown one is refused with the known ones', () => {
  const loaded = resolve(crew([role('developer')], { aliases: ['three-agent'] }))
  expect(findCrew(loaded, 'Three-Agent').name).toBe('it')
  expect(() => findCrew(loaded, 'tree-agent')).toThrow(
    'no crew tree-agent; did you mean three-agent? Known: it or three-agent',
  )
})
