import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkRun, planTask, reviewFinding } from '../../../test/support/collaboration.ts'
import { DeveloperInput, ReviewerInput } from '../../contract/session-file/outputs.ts'
import { assignmentPrompt, readAssignment, scopeOf } from './assignment.ts'
import { developerInput } from './developer-work.ts'

const to = { role: 'developer', taskId: 'call-1' }
const developing = developerInput({ task: planTask('a'), attempts: [] }, { styleGuide: 'STYLE.md' })
const reviewing = {
  review_id: 'review-1',
  task_id: 'a',
  review_scope: { files: ['src/a/x.ts'] },
  criteria: { must_pass_tests: true },
}
const fenced = (value: unknown) =>
  `Please do this.\n\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\`\nThanks.`
const problemsOf = (given: unknown, role = 'developer'): string[] => {
  const read = readAssignment(given, { ...to, role })
  return 'problems' in read ? [...read.problems] : []
}

test.each<[string, unknown]>([
  ['in a fence', fenced(developing)],
  ['bare', JSON.stringify(developing)],
  ['in the middle of words', `Do ${JSON.stringify(developing)} and answer like {"status": "completed"}.`],
  ['an object', developing],
  ['as a task_assignment has it', JSON.stringify({ task: developing, priority: 'high' })],
  ['as the input of a tool', { input: developing }],
  ['said twice', `${fenced(developing)}\nAgain: ${JSON.stringify(developing)}`],
])('[MUS-350] a DeveloperInput is one wherever it stands: %s', (_, given) => {
  expect(readAssignment(given, to)).toEqual({
    value: { kind: 'developer', taskId: 'a', input: developing },
  })
})

test.each<[string, object]>([
  ['review_scope', reviewing],
  ['scope', { ...reviewing, review_scope: undefined, scope: reviewing.review_scope }],
  ['a list of files', { ...reviewing, review_scope: undefined, files: ['src/a/x.ts'] }],
  ['a field that is null', { ...reviewing, context: null }],
])('[MUS-350][COL-44] a ReviewerInput is one with %s, and is named by its review', (_, given) => {
  const found = { value: { kind: 'reviewer', taskId: 'review-1', input: reviewing } }
  expect(readAssignment(fenced(given), { ...to, role: 'reviewer' })).toEqual(found)
  expect(readAssignment(fenced(given), { ...to, role: 'security' })).toEqual(found)
})

test('[MUS-350] a review without a name of its own is not named like the task that it judges', () => {
  const { review_id: _, ...unnamed } = reviewing
  expect(readAssignment(unnamed, to)).toMatchObject({ value: { taskId: 'review-a' } })
})

test.each([
  'Look where dates are parsed.',
  'Why does parse(\'{"a": 1}\') give {"a": [1]}?',
  'Fix this: { "task_id": "a", "status": "failed" } is what it answered.',
  'if (x) { "use strict" } else { "a": broken',
])('[MUS-350] plain words are text, whatever JSON is in them: %s', (words) => {
  expect(readAssignment(words, to)).toEqual({ value: { kind: 'text', taskId: 'call-1', prompt: words } })
  const schema = { type: 'object' }
  expect(readAssignment(words, { ...to, schema })).toEqual({
    value: { kind: 'schema', taskId: 'call-1', prompt: words, schema },
  })
})

test.each<[string, unknown, string]>([
  ['no name', fenced({ ...developing, task_id: undefined }), 'task_id: is missing'],
  ['a name of two lines', fenced({ ...developing, task_id: 'a\nb' }), 'task_id: expected a name of one line'],
  ['nothing to do', fenced({ ...developing, task_description: ' ' }), 'task_description: say what'],
  ['only constraints', fenced({ task_id: 'a', constraints: {} }), 'task_description: is missing'],
  [
    'a misspelt scope',
    fenced({ ...developing, constraints: { scpoe: ['src/**'] } }),
    'constraints.scpoe: unknown key; did you mean constraints.scope?',
  ],
  ['a misspelt field', fenced({ ...developing, constrants: {} }), 'did you mean constraints?'],
  [
    'a scope of another kind',
    fenced({ ...developing, constraints: { scope: 'src/**' } }),
    'constraints.scope: expected a list',
  ],
  ['an empty scope', fenced({ ...developing, constraints: { scope: [] } }), 'it names nothing'],
  [
    'a scope outside',
    fenced({ ...developing, constraints: { scope: ['../x'] } }),
    'constraints.scope.0: the scope "../x" has to be relative',
  ],
  [
    'broken JSON',
    fenced(developing).replace('"constraints": {', '"constraints": {,'),
    'the input cannot be read: the JSON object is broken',
  ],
  [
    'JSON that is cut off',
    fenced(developing).slice(0, -40),
    'the input cannot be read: the JSON object is cut off',
  ],
  [
    'a break before what it is known by',
    '{"task_id": a, "context": {"specs": []}, "task_description": "d"}',
    'the input cannot be read',
  ],
  [
    'two of them',
    `${fenced(developing)}${fenced({ ...developing, task_id: 'b' })}`,
    'there are 2 inputs in it',
  ],
  ['an object that is none', { colour: 'red' }, 'task_id: is missing'],
  ['a number', 7, 'expected words'],
  ['no words', ' \n', 'there is nothing in it'],
])('[MUS-350] an input that is broken is refused with what to fix: %s', (_, given, words) => {
  expect(problemsOf(given).join('\n')).toContain(words)
})

test('[MUS-350] a broken review is told what it lacks', () => {
  expect(problemsOf(fenced({ ...reviewing, criteria: { must_pass_tests: 'yes' } }), 'reviewer')).toEqual([
    expect.stringContaining('criteria.must_pass_tests'),
  ])
  expect(problemsOf({}, 'reviewer').join()).toContain('task_id: is missing')
  expect(problemsOf({ ...reviewing, review_id: 'x'.repeat(201) }).join()).toContain('review_id: expected')
})

test('[MUS-350] who is shown the input of another keeps to its own', () => {
  const both = `${fenced(developing)}\n${fenced(reviewing)}`
  expect(readAssignment(both, { ...to, role: 'Reviewer' })).toMatchObject({ value: { kind: 'reviewer' } })
  expect(readAssignment(both, to)).toMatchObject({ value: { kind: 'developer' } })
})

test('[MUS-350] words in other braces before a whole input do not break it', () => {
  const read = readAssignment(`Like { "a": b } in the code.\n${fenced(developing)}`, to)
  expect(read).toMatchObject({ value: { kind: 'developer' } })
})

const name = fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,30}$/)
const words = fc.string({ minLength: 1 }).filter((text) => text.trim() !== '')
const developerInputs = fc.record(
  {
    task_id: name,
    task_description: words,
    context: fc.record({ specs: fc.array(words), reference_files: fc.array(words) }, { requiredKeys: [] }),
    constraints: fc.record(
      { scope: fc.array(name, { minLength: 1 }), testing_required: fc.boolean(), style_guide: words },
      { requiredKeys: [] },
    ),
    acceptance_criteria: fc.array(words),
  },
  { requiredKeys: ['task_id', 'task_description'] },
)
const reviewerInputs = fc.record(
  {
    review_id: name,
    task_id: name,
    review_scope: fc.record({ files: fc.array(words) }),
    criteria: fc.record({ must_pass_tests: fc.boolean() }, { requiredKeys: [] }),
  },
  { requiredKeys: ['review_id', 'task_id', 'review_scope'] },
)

test('[MUS-350] what a prompt gives a developer or a reviewer is read from it again', () => {
  fc.assert(
    fc.property(developerInputs, words, (plain, output) => {
      const input = DeveloperInput.parse(plain)
      const given = { kind: 'developer', taskId: input.task_id, input } as const
      const checks = [{ name: 'tests', command: output }]
      expect(readAssignment(assignmentPrompt(given, { checks }), to)).toEqual({ value: given })
      expect(scopeOf(given)).toEqual(input.constraints?.scope)
    }),
  )
  fc.assert(
    fc.property(reviewerInputs, name, (plain, output) => {
      const input = ReviewerInput.parse(plain)
      const given = { kind: 'reviewer', taskId: plain.review_id, input } as const
      const review = {
        ran: [checkRun('tests', { passed: false, output })],
        stat: output,
        base: 'abc',
        earlier: [reviewFinding(output)],
      }
      expect(readAssignment(assignmentPrompt(given, { review }), { ...to, role: 'reviewer' })).toEqual({
        value: given,
      })
    }),
  )
})

test('[MUS-350] other words are said as they are, with the form of the answer where it has one', () => {
  const text = { kind: 'text', taskId: 't', prompt: 'Look.' } as const
  expect(assignmentPrompt(text)).toBe('Look.')
  expect(scopeOf(text)).toBeUndefined()
  expect(assignmentPrompt({ ...text, kind: 'schema', schema: { type: 'object' } })).toMatch(
    /^Look\.[^]*JSON Schema/,
  )
})

test('[MUS-350] whatever is handed over is an assignment or a list of problems', () => {
  const given = fc.oneof(
    fc.string(),
    fc.jsonValue(),
    fc.jsonValue().map(fenced),
    fc.jsonValue().map((value) => ({ ...developing, constraints: value, context: value })),
    fc.tuple(fc.nat(2000), fc.string()).map(([at, text]) => fenced(developing).slice(0, at) + text),
  )
  fc.assert(
    fc.property(given, fc.constantFrom('developer', 'reviewer', 'tester'), (value, role) => {
      const read = readAssignment(value, { role, taskId: 't' })
      if ('problems' in read) expect(read.problems.length).toBeGreaterThan(0)
      else expect(read.value.taskId).not.toBe('')
    }),
  )
})
