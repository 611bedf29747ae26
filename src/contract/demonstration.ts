/** Where its project lies in the state folder. */
export const demonstrationFolder = 'demo'

/** The name under which the scripted model plays the demonstration. */
export const demonstrationScript = 'demonstration'

const before = 'return `Hello!`'
const after = 'return `Hello, ${name}!`'
const test = 'node --test'

/** A small project with a fault that its test finds. */
export const demonstrationFiles: Readonly<Record<string, string>> = {
  'README.md': `# Greetings\n\nA project to look at. Its test: \`${test}\`\n`,
  'greet.mjs': `/** Greets somebody by name. */\nexport function greet(name) {\n  ${before}\n}\n`,
  'greet.test.mjs': [
    "import assert from 'node:assert/strict'",
    "import { test } from 'node:test'",
    "import { greet } from './greet.mjs'",
    '',
    "test('greets by name', () => {",
    "  assert.equal(greet('Ada'), 'Hello, Ada!')",
    '})',
    '',
  ].join('\n'),
}

/** What an agent is asked to do there. */
export const demonstrationPrompt = `The test of greet() fails. Find out why, mend it, and show that it passes. SCRIPT=${demonstrationScript}`

/** What the scripted model does with it, turn by turn; the tools, the files and the test are real. */
export const demonstrationSteps = [
  {
    text: 'I read the code and its test first.',
    tools: [
      { name: 'Read', input: { file_path: 'greet.mjs' } },
      { name: 'Read', input: { file_path: 'greet.test.mjs' } },
    ],
  },
  { text: 'Now I see it fail.', tools: [{ name: 'Bash', input: { command: test } }] },
  {
    text: 'The name is never used. I put it in.',
    tools: [{ name: 'Edit', input: { file_path: 'greet.mjs', old_string: before, new_string: after } }],
  },
  { text: 'And run the test again.', tools: [{ name: 'Bash', input: { command: test } }] },
  {
    text: `greet() left the name out; now it says it. Changed: greet.mjs. The last run of \`${test}\` is above.\n\nNo model was called: this was a script, with real tools, real files and a real test.`,
  },
]
