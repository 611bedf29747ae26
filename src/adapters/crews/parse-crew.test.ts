import fc from 'fast-check'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { parseCrew } from './parse-crew.ts'

const parse = (text: string, file = '/c/Night-Shift.yaml') => parseCrew(text, { file, source: 'user' })
const problems = (...lines: string[]) =>
  parse(lines.join('\n')).problems.map(({ line, severity, message }) => `${line} ${severity} ${message}`)

test('[MUS-277] every field of a crew file is read, and names are the same in any case', () => {
  const { definition, problems: found } = parse(
    stringify({
      name: 'Night',
      aliases: ['Owls'],
      description: ' Works at night ',
      pattern: 'master_worker',
      members: [
        { role: 'Architect', model: 'opus' },
        { id: 'Swift', role: 'developer', agent: 'Coder', cli: 'Codex', count: 3, guidelines: ['Be quick.'] },
      ],
      limits: {
        max_iterations: 5,
        max_parallel: 2,
        max_tasks: 7,
        developer_minutes: 1.5,
        reviewer_minutes: 2,
        progress_seconds: 10,
      },
      budget: { tokens: 1000, usd: 2.5 },
      checks: { test: 'npm test', type_check: 'tsc', custom: [{ name: 'lint', command: 'npm run lint' }] },
      style_guide: { file: 'docs/style.md' },
      approve_plan: true,
      on_max_iterations: 'abort',
      recommended_for: ['the night'],
    }),
  )
  expect(found).toEqual([])
  expect(definition).toEqual({
    name: 'night',
    aliases: ['owls'],
    description: 'Works at night',
    pattern: 'master_worker',
    members: [
      {
        id: 'architect',
        role: 'architect',
        agent: 'architect',
        model: 'opus',
        count: 1,
        guidelines: [],
      },
      {
        id: 'swift',
        role: 'developer',
        agent: 'coder',
        cli: 'codex',
        count: 3,
        guidelines: ['Be quick.'],
      },
    ],
    limits: {
      maxIterations: 5,
      maxParallel: 2,
      maxTasks: 7,
      developerMinutes: 1.5,
      reviewerMinutes: 2,
      progressSeconds: 10,
    },
    budget: { tokens: 1000, usd: 2.5 },
    checks: { test: 'npm test', typeCheck: 'tsc', custom: [{ name: 'lint', command: 'npm run lint' }] },
    styleGuide: { file: 'docs/style.md' },
    approvePlan: true,
    onMaxIterations: 'abort',
    recommendedFor: ['the night'],
    source: 'user',
    file: '/c/Night-Shift.yaml',
    lines: expect.objectContaining({ name: 1, members: 6, 'members.1.agent': 11 }),
  })
})

test('[MUS-277] what is left out has the usual value, also below an empty heading', () => {
  const { definition } = parse(
    ['limits:', '# max_tasks: 3', 'members:', '  - role: developer', '  - role: Developer'].join('\n'),
  )
  expect(definition).toMatchObject({
    name: 'night-shift',
    pattern: 'master_worker',
    limits: {
      maxIterations: 3,
      maxParallel: 4,
      maxTasks: 20,
      developerMinutes: 10,
      reviewerMinutes: 5,
      progressSeconds: 30,
    },
    checks: { custom: [] },
    approvePlan: false,
    onMaxIterations: 'human_review',
  })
  expect(definition?.members.map(({ id }) => id)).toEqual(['developer', 'developer-2'])
  expect(definition).not.toHaveProperty('budget')
})

test('[MUS-277] a misfit is named with its line, its place and what to write instead', () => {
  expect(
    problems(
      'descripton: x',
      'patern: pipeline',
      'members:',
      '  - rol: developer',
      '    count: many',
      '  - role: developer',
      '    clii: codex',
      '    count: 0',
      'limits:',
      '  max_iteration: 3',
      'checks:',
      '  test: [npm, test]',
      '  custom:',
      '    - { name: lint, comand: x }',
      'on_max_iterations: give_up',
      'approve_plan: yes',
    ).toSorted((a, b) => parseInt(a, 10) - parseInt(b, 10)),
  ).toEqual([
    '1 error descripton: unknown key; did you mean description?',
    '2 error patern: unknown key; did you mean pattern?',
    '4 error members.0.role: is missing; expected a text',
    '4 error members.0.rol: unknown key; did you mean members.0.role?',
    '5 error members.0.count: expected a number, found the text "many"',
    '7 error members.1.clii: unknown key; did you mean members.1.cli?',
    '8 error members.1.count: must be at least 1',
    '10 error limits.max_iteration: unknown key; did you mean limits.max_iterations?',
    '12 error checks.test: expected a text, found a list',
    '14 error checks.custom.0.command: is missing; expected a text',
    '14 error checks.custom.0.comand: unknown key; did you mean checks.custom.0.command?',
    '15 error on_max_iterations: expected human_review, abort, force_approve, found the text "give_up"',
    '16 error approve_plan: expected true or false, found the text "yes"; write true or false',
  ])
})

test('[COL-42] a style guide is a text, or a file inside of the project', () => {
  const style = (...lines: string[]) => problems('members: [{role: developer}]', ...lines)
  expect(parse('members: [{role: developer}]\nstyle_guide: Tabs.').definition?.styleGuide).toBe('Tabs.')
  expect(style('style_guide: { flie: a.md }')).toEqual([
    '2 error style_guide.file: is missing; expected a text',
    '2 error style_guide.flie: unknown key; did you mean style_guide.file?',
  ])
  for (const path of ['/etc/passwd', '../secret.md', 'docs/../../x'])
    expect(style(`style_guide: { file: ${path} }`)).toEqual([
      '2 error style_guide.file: must be a path inside the project, such as docs/style.md',
    ])
  expect(style('style_guide: 7')).toHaveLength(1)
})

test('[COL-72] a vote names what is voted on, and choices that can be told apart', () => {
  const vote = (text: string) => problems('members: [{role: reviewer}]', `vote: ${text}`)
  expect(vote('{ on: diff, quorum: 2 }')).toEqual([])
  expect(vote('{ on: dif }')).toEqual([
    '2 error vote.on: expected question, diff, found the text "dif"; did you mean diff?',
  ])
  expect(vote('{ choice: [a, b] }')).toEqual(['2 error vote.choice: unknown key; did you mean vote.choices?'])
  expect(vote('{ choices: [Yes, "yes"] }')).toEqual(['2 error vote.choices: two choices are the same'])
  expect(vote('{ choices: [yes, Abstain] }')).toEqual([
    '2 error vote.choices.1: Abstain cannot be a choice: it stands for no vote',
  ])
})

test('[MUS-277] any other pattern is refused with those that there are', () => {
  expect(problems('members: [{role: developer}]', 'pattern: pipelin')).toEqual([
    '2 error pattern: expected master_worker, pipeline, peer_to_peer, consensus, found the text "pipelin"; did you mean pipeline?',
  ])
})

test('[COL-7] a crew names agents and cannot define one: what an agent may do is no field of a member', () => {
  expect(problems('members:', '  - role: developer', '    prompt: Do it', '    tools: ["*"]')).toEqual([
    '3 error members.0.prompt: unknown key',
    '4 error members.0.tools: unknown key',
  ])
})

test('[MUS-277] a text that is no crew is named', () => {
  expect(problems('')).toEqual(['1 error members: is missing; expected a list'])
  expect(problems('- a')).toEqual(['1 error a crew file is a map; begin with: name, description, members'])
  expect(problems('members: []')).toEqual(['1 error members: must have at least 1 item'])
  expect(problems('description: x', 'members: [', '  {')).toContainEqual(expect.stringMatching(/^3 error /))
  expect(problems('name: a', 'name: b')).toEqual(['2 error this key is written twice in one map'])
  expect(problems('\uFEFFname: a b', 'members: [{role: x}]')).toEqual([
    expect.stringMatching(/^1 error name: a name has/),
  ])
  expect(parse('members: [{role: developer}]', '/c/no name.yaml').problems).toEqual([
    expect.objectContaining({ message: 'the file name is not a valid crew name; add a name to the file' }),
  ])
})

test('[MUS-277] no text makes the reader throw, and what it reads is whole', () => {
  const word = fc.constantFrom(
    'name',
    'members',
    'role',
    'developer',
    'limits',
    '- ',
    ': ',
    '\n',
    '  ',
    '&a',
    '*a',
    '{',
    '[',
  )
  const text = fc.oneof(
    fc.string(),
    fc.array(fc.oneof(word, fc.string()), { maxLength: 30 }).map((words) => words.join('')),
    fc.json().map((json) => stringify(JSON.parse(json))),
  )
  fc.assert(
    fc.property(text, (any) => {
      const { definition, problems: found } = parse(any)
      expect(definition === undefined).toBe(found.length > 0)
      for (const { line } of found) expect(line).toBeGreaterThan(0)
    }),
  )
})
