import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../test/support/size.ts'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { checkAgents } from '../../core/definitions/check-agents.ts'
import { agentFiles } from './agent-files.ts'
import { parseAgent } from './parse-agent.ts'

const parse = (...front: string[]) =>
  parseAgent(['---', ...front, '---', 'Do it.'].join('\n'), {
    file: '/c/helper.md',
    source: 'user',
    dialect: 'claude',
  })
const said = (...front: string[]) =>
  parse(...front).problems.map(({ line, severity, message }) => `${line} ${severity} ${message}`)
const rights = (...front: string[]) => {
  const { agent } = parse(...front)
  return agent && { kind: agent.kind, tools: agent.tools, policy: agent.policy.allow }
}

test('[MUS-381] tools of a Claude Code agent mean what they mean there, and its policy follows from them', () => {
  expect(rights('name: x', 'tools: Read, Write, Edit, Bash')).toEqual({
    kind: 'subagent',
    tools: ['Read', 'Write', 'Edit', 'Bash'],
    policy: ['Patch'],
  })
  expect(rights('name: x')).toEqual({ kind: 'subagent', tools: ['*'], policy: ['Patch'] })
  for (const all of ['tools: "*"', 'tools: *', 'tools: ["*"]']) expect(rights(all)?.tools).toEqual(['*'])
  expect(rights('tools: [Read, Grep, Bash]')).toMatchObject({ policy: [] })
  expect(rights('tools: []')).toMatchObject({ tools: [], policy: [] })
  expect(rights('tools: Read, Edit', 'permissionMode: plan')).toMatchObject({ policy: [] })
  expect(rights('kind: main')).toMatchObject({ kind: 'main', policy: ['Patch', 'Delegate'] })
  expect(rights('policy: []')).toEqual({ kind: 'subagent', tools: ['*'], policy: [] })
  expect(said('tools: Read, Bash')).toEqual([
    '2 warning its tools mean policy: []; Bash only looks and runs checks',
  ])
  expect(parse('model: opus', 'color: red', 'maxTurns: 5').agent).toMatchObject({
    model: 'opus',
    maxIters: 5,
  })
  expect(parse('model: inherit').agent?.model).toBeUndefined()
})

test('[MUS-381] what denies tools there denies them here', () => {
  const left = rights('disallowedTools: Write, Task')?.tools ?? []
  expect(left).toContain('Read')
  for (const tool of ['*', 'Write', 'Task', 'Agent', 'delegate_to_agent']) expect(left).not.toContain(tool)
  expect(rights('tools: Read, Edit, MultiEdit', 'disallowedTools: [Edit]')).toMatchObject({
    tools: ['Read'],
    policy: [],
  })
})

test.each([
  [['tools:'], 'tools is empty; leave the line out for all tools, or name them'],
  [['tools: ""'], 'tools is empty; leave the line out for all tools, or name them'],
  [['tools: Read, Bash(git diff:*)'], 'a tool cannot be narrowed here'],
  [['tools: Read Write'], 'a tool is * or a bare name such as Read'],
  [['tools: {Read: true}'], 'expected a list'],
  [['disallowedTools: Bash(rm:*)'], 'a tool cannot be narrowed here'],
  [['allowed-tools: Read'], 'it would limit nothing; write tools'],
  [['hooks: {PreToolUse: []}'], 'hooks do not run here'],
  [['isolation: worktree'], 'a copy of its own'],
  [['name: Code Reviewer'], 'a name has 1 to 64 letters'],
  [['tols: Read'], 'did you mean tools?'],
  [['description: "one" two'], 'the quotes of description do not fit'],
  [['tools: [Read'], 'the list of tools is not closed'],
])('[MUS-381] %j is refused, in words', (front, words) => {
  expect(parse(...front).agent).toBeUndefined()
  expect(said(...front).join('\n')).toContain(words)
})

test('[MUS-381] a description with a colon is read as Claude Code reads it, and the fault is named', () => {
  const line = 'description: Use this when: you need it. Context: a user asks'
  expect(parse('name: x', line, 'tools: Read').agent).toMatchObject({
    description: 'Use this when: you need it. Context: a user asks',
    tools: ['Read'],
  })
  expect(said('name: x', line)[0]).toBe("3 warning the description contains ': '; put it in quotes")
  const ours = parseAgent(`---\nname: x\n${line}\n---\n`, { file: '/a/x.md', source: 'user' })
  expect(ours.agent).toBeUndefined()
  expect(ours.problems[0]?.message).toBe("the description contains ': '; put it in quotes")
})

/** A frontmatter as collections have them, and what its author meant with it; nothing where that cannot be known. */
type Shape = {
  readonly lines: readonly string[]
  readonly meant: { tools: readonly string[] | '*'; denied: readonly string[] }
}

const someTools = fc.uniqueArray(
  fc.constantFrom(
    'Read',
    'Write',
    'Edit',
    'Bash',
    'Grep',
    'Glob',
    'MultiEdit',
    'LS',
    'TodoWrite',
    'Frobnicate',
    'mcp__github__search',
    'mcp__a-b__c_d',
  ),
  { minLength: 1, maxLength: 6 },
)
const descriptions = fc.constantFrom(
  ['description: Reviews code'],
  ['description: Use PROACTIVELY when: tests fail. Context: "user: hi"'],
  ["description: 'It''s for: reviews'"],
  ['description: |', '  Several lines: all', '  of them'],
  ['description: >-', '  Folded: too'],
  ['description: "a \\"quoted\\" one: <example>user: x</example>"'],
  ['description: 審査する: コード # not a comment'],
  ['description:'],
  [],
)
const toolLines = fc.oneof(
  fc.constant({ lines: [] as string[], tools: '*' as const }),
  fc
    .constantFrom('*', '"*"', "'*'", '["*"]')
    .map((all) => ({ lines: [`tools: ${all}`], tools: '*' as const })),
  someTools.map((tools) => ({ lines: [`tools: ${tools.join(', ')}`], tools })),
  someTools.map((tools) => ({ lines: [`tools: [${tools.join(', ')}]`], tools })),
  someTools.map((tools) => ({ lines: ['tools:', ...tools.map((tool) => `  - ${tool}`)], tools })),
  someTools.map((tools) => ({ lines: [`tools: ${tools.join(',')},`], tools })),
  fc
    .constantFrom(
      'tools:',
      'tools: ""',
      'tools: Read, Bash(git:*)',
      'tools: Read Write',
      'tools: All tools',
      'tools: {a: 1}',
      'tools: 7',
      'tools: [Read',
      'tools: mcp__github__*',
      'allowed-tools: Read',
      'allowedTools: [Read]',
      'read_only: true',
    )
    .map((line) => ({ lines: [line], tools: [] as string[] })),
)
const denials = fc.option(someTools, { nil: undefined, freq: 4 })
const others = fc.subarray([
  'model: sonnet',
  'color: cyan',
  'permissionMode: plan',
  'permissionMode: bypassPermissions',
  'maxTurns: 12',
  'skills: [a, b]',
  'mcpServers: [slack]',
  'memory: project',
  'hooks: {PreToolUse: [{matcher: Bash}]}',
  'isolation: worktree',
  'category: testing',
])
const shapes: fc.Arbitrary<Shape> = fc
  .tuple(descriptions, toolLines, denials, others)
  .chain(([description, { lines, tools }, denied, more]) =>
    fc
      .shuffledSubarray(
        [
          description,
          lines,
          denied ? [`disallowedTools: ${denied.join(', ')}`] : [],
          ...more.map((one) => [one]),
        ],
        { minLength: 3 + more.length },
      )
      .map((parts) => ({ lines: parts.flat(), meant: { tools, denied: denied ?? [] } })),
  )
const ends = fc.constantFrom('\n', '\r\n', '\r')

test('[MUS-381] of agent files in every shape, each loads or is refused with a reason, and none with rights that its author did not mean', () => {
  let loaded = 0
  fc.assert(
    fc.property(shapes, ends, fc.boolean(), ({ lines, meant }, end, hasMark) => {
      const text = `${hasMark ? '\uFEFF' : ''}${['---', 'name: helper', ...lines, '---', 'Work.'].join(end)}${end}`
      const { agent, problems } = parseAgent(text, {
        file: '/c/helper.md',
        source: 'user',
        dialect: 'claude',
      })
      if (!agent) {
        const errors = problems.filter(({ severity }) => severity === 'error')
        expect(errors.length).toBeGreaterThan(0)
        for (const { message } of errors)
          expect(message).not.toMatch(/Nested mappings|implicit|Unresolved|flow|scalar|Invalid/)
        return
      }
      loaded++
      expect(lines.some((line) => /^(hooks|isolation|allowed|read_only)/.test(line))).toBe(false)
      for (const tool of agent.tools)
        expect(meant.tools === '*' || meant.tools.includes(tool), `${tool} was meant`).toBe(true)
      for (const tool of meant.denied) expect(agent.tools).not.toContain(tool)
      if (meant.denied.length > 0) expect(agent.tools).not.toContain('*')
      const mayWrite = agent.tools.some((tool) =>
        ['*', 'Write', 'Edit', 'MultiEdit', 'NotebookEdit'].includes(tool),
      )
      const isPlan = lines.includes('permissionMode: plan')
      expect(agent.policy.allow).toEqual(mayWrite && !isPlan ? ['Patch'] : [])
      expect(agent).toMatchObject({ kind: 'subagent', mcp: undefined, prompt: 'Work.' })
    }),
    runs(5000),
  )
  expect(loaded).toBeGreaterThan(50)
})

test('[MUS-381] agents of .claude are found beside ours, in folders below too, and take the place of none of ours', async () => {
  const base = tempFolder('mca-')
  const put = async (path: string, text: string) => {
    await mkdir(dirname(join(base, path)), { recursive: true })
    await writeFile(join(base, path), text)
  }
  const agent = (name: string, more = '') => `---\nname: ${name}\ndescription: x\n${more}---\n${name}\n`
  await put('shipped/reviewer.md', agent('reviewer', 'aliases: [Checker]\n'))
  await put('home/.claude/agents/reviewer.md', agent('reviewer'))
  await put('home/.claude/agents/checker.md', agent('checker'))
  await put('home/.claude/agents/quality/lint.md', agent('lint', 'tools: Read\n'))
  await put('home/.claude/agents/README.md', '# Our agents\n')
  await put('home/.claude/agents/notes.md', 'Just text\n')
  await put('repo/.claude/agents/lint.md', agent('lint', 'tools: Read, Edit\n'))
  await put('repo/.claude/agents/lint-again.md', agent('lint'))
  await put('repo/.claude/agents/guest.md', agent('guest'))
  const files = agentFiles({
    shippedDir: join(base, 'shipped'),
    userDir: join(base, 'user'),
    claudeDir: join(base, 'home/.claude/agents'),
  })
  const load = async (trusted: boolean) => {
    const found = await files.load(
      { root: join(base, 'repo'), trusts: () => trusted },
      new AbortController().signal,
    )
    return {
      ...found,
      rights: Object.fromEntries(found.agents.map((one) => [one.name, [one.source, ...one.policy.allow]])),
      said: checkAgents(found).map(
        ({ file, severity, message }) => `${file.slice(base.length + 1)} ${severity} ${message}`,
      ),
    }
  }
  const mine = await load(true)
  expect(mine.rights).toEqual({
    reviewer: ['shipped'],
    lint: ['project', 'Patch'],
    guest: ['project', 'Patch'],
  })
  expect(mine.said.join('\n')).toMatch(
    /home\/\.claude\/agents\/reviewer\.md warning reviewer is the name of an agent of Muster's/,
  )
  expect(mine.said.join('\n')).toMatch(/checker\.md warning checker is the name of an agent of Muster's/)
  expect(mine.said.join('\n')).toMatch(/notes\.md warning no frontmatter/)
  expect(mine.said.join('\n')).toMatch(/lint\.md error the agent lint is already defined by .*lint-again\.md/)
  // A repository that was cloned gets no rights untold, and replaces no agent of the user's.
  const cloned = await load(false)
  expect(cloned.rights).toEqual({ reviewer: ['shipped'], lint: ['user'], guest: ['project'] })
  expect(cloned.held.map(({ says }) => says)).toContainEqual(['may change files, because of its tools'])
  expect(cloned.said.join('\n')).toContain(
    'policy is not used: this file is not trusted as it is; see: sm trust',
  )
})
