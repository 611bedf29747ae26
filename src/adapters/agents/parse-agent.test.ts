import fc from 'fast-check'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { parseAgent } from './parse-agent.ts'

const parse = (text: string, file = '/a/Helper.md') => parseAgent(text, { file, source: 'user' })
const file = (...front: string[]) => ['---', ...front, '---', 'Do it.', ''].join('\n')
const problems = (text: string) =>
  parse(text).problems.map(({ line, severity, message }) => `${line} ${severity} ${message}`)

test('[MUS-147] every field of the frontmatter is read, and the body is the prompt', () => {
  const { agent, problems: found } = parse(
    file(
      'name: Crafter',
      'description: Builds things',
      'tools: [Read, Write]',
      'model: opus',
      'kind: subagent',
      'policy: {allow: [Patch, Delegate], delegate_targets: [Explore]}',
      'aliases: [Maker]',
      'work_globs: [src/**]',
      'default_lock_globs: "a.ts, b.ts"',
      'skills: [tests]',
      'idle_prompt: Look again',
      'idle_interval_secs: 60',
      'personality: calm',
      'max_iters: 5',
      'budget: {tokens: 1000, usd: 0.5}',
      'mcp: [github]',
    ),
  )
  expect(found).toEqual([])
  expect(agent).toEqual({
    name: 'crafter',
    aliases: ['maker'],
    description: 'Builds things',
    kind: 'subagent',
    tools: ['Read', 'Write'],
    policy: { allow: ['Patch', 'Delegate'], delegateTargets: ['explore'] },
    model: 'opus',
    workGlobs: ['src/**'],
    defaultLockGlobs: ['a.ts', 'b.ts'],
    skills: ['tests'],
    idlePrompt: 'Look again',
    idleIntervalSecs: 60,
    personality: 'calm',
    maxIters: 5,
    budget: { tokens: 1000, usd: 0.5 },
    mcp: ['github'],
    prompt: 'Do it.',
    source: 'user',
    file: '/a/Helper.md',
    lines: expect.objectContaining({ name: 2, tools: 4, mcp: 17 }),
  })
})

test('[RUN-9] agent.max_iters is read as the runtime contract writes it, in one key or as a map', () => {
  const itersIn = (...front: string[]) => parse(file('description: x', ...front)).agent?.maxIters
  expect(itersIn('max_iters: 7')).toBe(7)
  expect(itersIn('agent.max_iters: 7')).toBe(7)
  expect(itersIn('agent:', '  max_iters: 7')).toBe(7)
  expect(itersIn('agent.max_iters: 7', 'max_iters: 7')).toBe(7)
  expect(itersIn()).toBeUndefined()
  expect(problems(file('description: x', 'max_iters: 5', 'agent: { max_iters: 7 }'))).toEqual([
    '3 error max_iters: max_iters and agent.max_iters say different numbers; keep one of them',
  ])
  expect(problems(file('description: x', 'agent.max_iters: none'))[0]).toContain('error agent.max_iters: ')
  expect(problems(file('description: x', 'agent: { max_itrs: 7 }'))[0]).toMatch(/max_itrs.*max_iters/)
})

test('[MUS-148][MUS-151] an empty frontmatter gives a main agent named after its file that may do nothing', () => {
  expect(parse('---\n---\nHi\n').agent).toMatchObject({
    name: 'helper',
    kind: 'main',
    model: undefined,
    tools: [],
    policy: { allow: [], delegateTargets: 'any' },
    prompt: 'Hi',
  })
})

test('[MUS-151] model inherit, empty and absent all mean the default model', () => {
  for (const line of ['model: inherit', 'model: ""', 'model:', 'kind: main']) {
    expect(parse(file(line)).agent?.model).toBeUndefined()
  }
})

test('[RUN-21] tools are a list or one line with commas, and * is every tool', () => {
  expect(parse(file('tools: Read,  Bash , ')).agent?.tools).toEqual(['Read', 'Bash'])
  expect(parse(file('tools: "*"')).agent?.tools).toEqual(['*'])
  expect(parse(file('tools: [Read, "*", Read]')).agent?.tools).toEqual(['*'])
})

test('[RUN-3][RUN-4] policy is a list or a map; FinalizeTask is Finalize; no targets means any', () => {
  const policy = (line: string) => parse(file(line)).agent?.policy
  expect(policy('policy: [Patch, FinalizeTask]')).toEqual({
    allow: ['Patch', 'Finalize'],
    delegateTargets: 'any',
  })
  expect(policy('policy: {allow: [Delegate]}')).toEqual({ allow: ['Delegate'], delegateTargets: 'any' })
  expect(policy('policy: {allow: [Delegate], delegate_targets: []}')?.delegateTargets).toBe('any')
  expect(policy('policy: {delegate_targets: [A]}')).toEqual({ allow: [], delegateTargets: ['a'] })
})

test.each([
  ['no fence', 'Just text\n', '1 error no frontmatter: the first line of an agent file is ---'],
  [
    'no second fence',
    '---\nname: x\n',
    '1 error the frontmatter is never closed: a second line of --- is missing',
  ],
  ['broken YAML', file('name: x', 'tools: [Read'), '3 error '],
  ['a key twice', file('name: x', 'kind: main', 'name: y'), '4 error this key is written twice in one map'],
  ['a list', file('- x'), '2 error the frontmatter is not a map'],
  [
    'a wrong kind',
    file('name: x', 'kind: sub'),
    '3 error kind: expected main, subagent, found the text "sub"',
  ],
  ['a name with a space', file('', 'name: my agent'), '3 error name: a name has 1 to 64'],
  ['a number as name', file('name: 7'), '2 error name: expected a text, found 7'],
  [
    'an unknown capability',
    file('policy: [Patch, Patsch]'),
    '2 error policy.1: expected Patch, Finalize, Delegate, found the text "Patsch"; did you mean Patch?',
  ],
  [
    'a misspelt target list',
    file('policy:', '  allow: [Delegate]', '  delegate_target: [x]'),
    '4 error policy.delegate_target: unknown key; did you mean policy.delegate_targets?',
  ],
  [
    'a word as policy',
    file('policy: Patch'),
    '2 error policy: expected a list of Patch, Finalize, Delegate, or a map',
  ],
  [
    'a narrowed tool',
    file('tools:', '  - Read', '  - Bash(git diff:*)'),
    '4 error tools.1: a tool is * or a bare name',
  ],
  ['a map of tools', file('tools: {a: 1}'), '2 error tools: expected a list, or one line with commas'],
  [
    'a misspelt field',
    file('name: x', 'polcy: [Patch]'),
    '3 error polcy: unknown field; did you mean policy?',
  ],
  ['too many turns', file('max_iters: 1001'), '2 error max_iters: must be at most 1000'],
])('[MUS-149] %s is an error with its line', (_, text, problem) => {
  expect(problems(text)[0]?.slice(0, problem.length)).toBe(problem)
  expect(parse(text).agent).toBeUndefined()
})

test('[MUS-149] every problem of a file is named', () => {
  expect(problems(file('kind: x', 'max_iters: 0', 'modle: y'))).toHaveLength(3)
})

test('[MUS-147] a field of another tool is passed over with a warning', () => {
  expect(problems(file('color: blue'))).toEqual(['2 warning color: unknown field, not used'])
  expect(parse(file('color: blue')).agent?.name).toBe('helper')
})

test('[MUS-148] a file name that is no agent name needs a name inside', () => {
  expect(parse('---\n---\n', '/a/my agent.md').problems[0]?.message).toMatch(/add a name/)
  expect(parse('---\nname: x\n---\n', '/a/my agent.md').agent?.name).toBe('x')
})

test('[MUS-149] a byte-order mark and any line ends change neither values nor lines', () => {
  for (const end of ['\r\n', '\r', '\n']) {
    const text = `\uFEFF---${end}name: x${end}kind: main  ${end}---  ${end}One${end}Two${end}`
    expect(parse(text).agent).toMatchObject({
      name: 'x',
      kind: 'main',
      prompt: 'One\nTwo',
      lines: { kind: 3 },
    })
    expect(problems(`\uFEFF---${end}name: x${end}kind: no${end}---${end}`)[0]).toMatch(/^3 error/)
  }
})

test('[MUS-147] a fence inside the body stays in the prompt', () => {
  expect(parse('---\nname: x\n---\na\n---\nb\n').agent?.prompt).toBe('a\n---\nb')
})

test('[MUS-149] no text makes the reader throw', () => {
  const anyText = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: 'binary' }).map((yaml) => `---\n${yaml}\n---\nbody`),
    fc.dictionary(fc.string(), fc.jsonValue()).map((map) => `---\n${stringify(map)}---\nbody`),
  )
  fc.assert(
    fc.property(anyText, (text) => {
      const { agent, problems: found } = parse(text)
      expect(agent !== undefined || found.some(({ severity }) => severity === 'error')).toBe(true)
    }),
  )
})
