/** Where its project lies in the state folder. */
export const demonstrationFolder = 'demo'

/** The scripted model that plays the demonstration: the name of the scenario is that of the model. */
export const demonstrationScript = 'demonstration'

const test = 'node --test'

/** A small project with one function and its test. */
export const demonstrationFiles: Readonly<Record<string, string>> = {
  'README.md': `# Greetings\n\nA small demo project. Its tests: \`${test}\`\n`,
  'greet.mjs': '/** Greets somebody by name. */\nexport const greet = (name) => `Hello, ${name}!`\n',
  'greet.test.mjs': testFile('greet', "assert.equal(greet('Ada'), 'Hello, Ada!')"),
}

/** What a crew is asked to do there. */
export const demonstrationRequest = 'Add farewell(name) and shout(text) beside greet(), each with a test.'

const task = (task_id: string, title: string, description: string) => ({
  task_id,
  title,
  description,
  scope: [`${task_id}.mjs`, `${task_id}.test.mjs`],
  acceptance_criteria: [`\`${test}\` passes, and covers ${task_id}()`],
  reference_files: ['greet.mjs', 'greet.test.mjs'],
})

const plan = {
  summary: 'Two small modules like greet(), independent of each other, next to it.',
  tasks: [
    task(
      'farewell',
      'Add farewell(name)',
      'farewell.mjs exports farewell(name), which says goodbye by name.',
    ),
    task(
      'shout',
      'Add shout(text)',
      'shout.mjs exports shout(text): the text in capitals with an exclamation mark.',
    ),
  ],
  checks: { test },
}

const farewell =
  '/** Says goodbye to somebody by name. */\nexport const farewell = (name) => `Goodbye, ${name}!`\n'
const hasty = '/** Says something loudly. */\nexport const shout = (text) => `${text.toUpperCase()}!`\n'
const careful = "export const shout = (text) => (text === '' ? '' : `${text.toUpperCase()}!`)"
const shoutTest = testFile('shout', "assert.equal(shout('hello'), 'HELLO!')")
const emptyTest =
  "\ntest('shouts nothing when there is nothing to say', () => {\n  assert.equal(shout(''), '')\n})\n"

const said = (value: unknown) => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``
const write = (file_path: string, content: string) => ({ name: 'Write', input: { file_path, content } })
const read = (file_path: string) => ({ name: 'Read', input: { file_path } })
const bash = (command: string) => ({ name: 'Bash', input: { command } })
const done = (summary: string) =>
  `Done.\n\n${said({ status: 'completed', summary, self_review: { tests_run: true, tests_passed: true, type_check_passed: false } })}`

const develop = (name: string, code: string, tests: string) => [
  {
    text: 'First I look at the existing one.',
    tools: [read('greet.mjs'), read('greet.test.mjs')],
    delayMs: 300,
  },
  {
    text: 'Now mine, and its test.',
    tools: [write(`${name}.mjs`, code), write(`${name}.test.mjs`, tests)],
    delayMs: 400,
  },
  { text: 'Now I run the tests.', tools: [bash(test)], delayMs: 200 },
  { text: done(`Added ${name}() with a test; \`${test}\` passes.`), delayMs: 200 },
]

/** What the scripted model does, by the part that it plays; the tools, the files, git and the tests are real. */
export const demonstrationCast = {
  cast: [
    {
      when: 'write the final report',
      steps: [
        {
          text: said({
            summary:
              'farewell(name) and shout(text) are there, each in a module of its own with a test. The first review found that shout() shouted an empty text too; that is fixed. All tests pass.',
            outcome: 'approved',
            completed: ['farewell', 'shout', 'shout-rev1'],
            open: [],
            checks_passed: true,
          }),
          delayMs: 300,
        },
      ],
    },
    {
      when: 'of the review ended with changes_requested',
      steps: [
        {
          text: said({
            action: 'revise',
            reason: 'The approach is right; an empty text is all that shout() gets wrong.',
          }),
          delayMs: 300,
        },
      ],
    },
    {
      when: '"review_id": "review-2"',
      steps: [
        {
          text: 'I check what was requested last time.',
          tools: [read('shout.mjs'), read('shout.test.mjs')],
          delayMs: 300,
        },
        {
          text: said({
            verdict: 'approved',
            summary: 'shout() now handles an empty text, and a test covers it. All tests pass.',
            findings: [],
            addressed: ['r1-empty-shout'],
            commendations: ['Both modules follow the existing one.'],
          }),
          delayMs: 300,
        },
      ],
    },
    {
      when: '"review_id": "review-1"',
      steps: [
        {
          text: 'I read every changed file.',
          tools: [read('farewell.mjs'), read('shout.mjs'), read('shout.test.mjs')],
          delayMs: 300,
        },
        {
          text: said({
            verdict: 'changes_requested',
            summary: 'farewell() is right, but shout() shouts even when the text is empty.',
            findings: [
              {
                finding_id: 'empty-shout',
                severity: 'major',
                category: 'bug',
                file: 'shout.mjs',
                line: 2,
                description: "shout('') returns '!' instead of an empty text",
                suggestion: 'Return an empty text for an empty one, and add a test',
              },
            ],
          }),
          delayMs: 300,
        },
      ],
    },
    {
      when: '"task_id": "shout-rev1"',
      steps: [
        { text: 'The review is right.', tools: [read('shout.mjs'), read('shout.test.mjs')], delayMs: 300 },
        {
          text: 'I fix it and add a test.',
          tools: [
            {
              name: 'Edit',
              input: { file_path: 'shout.mjs', old_string: hasty.split('\n')[1], new_string: careful },
            },
            write('shout.test.mjs', `${shoutTest}${emptyTest}`),
          ],
          delayMs: 300,
        },
        { text: 'Now I run the tests.', tools: [bash(test)], delayMs: 200 },
        { text: done(`An empty text stays empty; \`${test}\` passes.`), delayMs: 200 },
      ],
    },
    { when: '"task_id": "shout"', steps: develop('shout', hasty, shoutTest) },
    {
      when: '"task_id": "farewell"',
      steps: develop(
        'farewell',
        farewell,
        testFile('farewell', "assert.equal(farewell('Ada'), 'Goodbye, Ada!')"),
      ),
    },
    {
      when: 'You are the architect of a crew',
      steps: [
        {
          text: 'First I look at the project.',
          tools: [{ name: 'Glob', input: { pattern: '*' } }, read('greet.mjs')],
          delayMs: 300,
        },
        { text: `Two tasks that can be done at the same time.\n\n${said(plan)}`, delayMs: 300 },
      ],
    },
  ],
}

function testFile(name: string, assertion: string): string {
  return [
    "import assert from 'node:assert/strict'",
    "import { test } from 'node:test'",
    `import { ${name} } from './${name}.mjs'`,
    '',
    `test('${name}', () => {`,
    `  ${assertion}`,
    '})',
    '',
  ].join('\n')
}
