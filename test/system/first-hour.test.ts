import { expect, onTestFinished, test } from 'vitest'
import { stranger } from '../support/first-hour.ts'
import { startScriptedModel } from '../support/scripted-model/scripted-model.ts'
import { eventually } from '../support/session-daemon.ts'

const ways = [
  /^sm: there is no model here: no provider has a key, no coding CLI is logged in, and no model server/,
  /^ {2}export ANTHROPIC_API_KEY=… && sm up --replace/m,
  /^ {2}npm install -g @anthropic-ai\/claude-code && claude/m,
  /^ {2}ollama pull/m,
  /^ {2}sm demo /m,
]

test('[MUS-383] the first hour with nothing: refused at once with the ways to a model, and a demonstration meanwhile', async () => {
  const { sm, asked } = stranger()
  const doctor = await sm('doctor')
  expect(doctor.code).toBe(1)
  expect(doctor.stdout).toMatch(/^FAILED +who answers +there is no model here/m)
  expect(doctor.stdout.replaceAll(/\s+/g, ' ')).toContain('→ one of: export ANTHROPIC_API_KEY=')
  expect(doctor.stdout).not.toContain('No problems found')
  for (const line of [
    ['ask', 'lead', 'What is here?'],
    ['chat'],
    ['crew', 'Add a greeting'],
    ['crew', 'Add a greeting', '-d'],
    ['workflow', 'run', 'audit', '-d'],
  ]) {
    const { code, stdout, stderr } = await sm(...line)
    expect([line.join(' '), code, stdout]).toEqual([line.join(' '), 1, ''])
    const told = stderr.slice(stderr.indexOf('sm: '))
    for (const way of ways) expect(told).toMatch(way)
  }
  for (const [line, why] of [
    [['crew', 'x', '--cli', 'codex', '-d'], /Codex cannot work here: codex is not installed/],
    [['crew', 'x', '--model', 'nonsense', '-d'], /nonsense: there is no such model/],
    [['ask', 'lead', 'x', '--model', 'opus'], /claude-opus-5-5: no key: set ANTHROPIC_API_KEY/],
    [['ask', 'lead', 'x', '--cli', 'claude'], /Claude Code cannot work here: claude is not installed/],
  ] as const)
    expect(await sm(...line)).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(why) })
  // Nothing of all this has left a session behind.
  expect((await sm('all', '--closed')).stdout).toMatch(/^No sessions/)
  // What is piped is never cut to fit a screen.
  expect((await sm('models')).stdout).toMatch(/^anthropic .*claude-opus-5-5, claude-haiku-5-5$/m)
  const scripted = await sm('ask', 'lead', 'Hello', '--model', 'scripted')
  expect(scripted).toMatchObject({ code: 0, stdout: expect.stringContaining('No model was called') })
  const demo = await sm('demo')
  expect(demo).toMatchObject({ code: 0, stdout: expect.stringContaining('no model is called') })
  expect(demo.stdout).toMatch(/approved/)
  expect(await asked()).toMatch(/^apr_/)
})

test('[MUS-383, MUS-384] the first hour with a key: it says which model answers and why, a crew works, and its work is landed', async () => {
  const done = '```json\n{"status":"completed","summary":"A second greeting is there."}\n```'
  const write = { name: 'Write', input: { file_path: 'second.mjs', content: 'export const x = 1\n' } }
  const part = { when: 'second greeting', steps: [{ tools: [write] }, { text: done }] }
  const model = await startScriptedModel({ scenarios: { play: { cast: [part] as never } } })
  onTestFinished(() => model.close())
  const { sm, git, asked } = stranger({
    env: { ANTHROPIC_API_KEY: 'test-key' },
    config: `anthropic: { base_url: "${model.url}/v1" }`,
  })
  const reason = 'anthropic/claude-sonnet-5-5 answers: its agent file names it (key from ANTHROPIC_API_KEY)'
  const doctor = await sm('doctor')
  expect(doctor.stdout).toMatch(/^ok +who answers +anthropic\/claude-sonnet-5-5 answers/m)
  const answer = await sm('ask', 'lead', 'SCRIPT:[{"text":"It is a greeting."}]')
  expect(answer).toMatchObject({
    code: 0,
    stdout: 'It is a greeting.\n',
    stderr: expect.stringMatching(/^anthropic\/claude-opus-5-5 answers: its agent file names it/m),
  })
  const named = await sm('ask', 'lead', 'SCRIPT:[{"text":"Yes."}]', '--model', 'opus')
  expect(named).toMatchObject({ code: 0, stdout: 'Yes.\n', stderr: '' })
  // Nobody could answer it here, so it does not wait for ever.
  expect(await sm('workflow', 'run', 'audit')).toMatchObject({
    code: 4,
    stdout: '',
    stderr: expect.stringMatching(/audit needs approval.*--yes, or with -d/),
  })
  const crew = await sm('crew', 'Add a second greeting SCRIPT=play', '--name', 'solo')
  expect(crew).toMatchObject({ code: 0, stderr: expect.stringContaining(reason) })
  expect(crew.stdout).toContain('A second greeting is there.')
  const approval = await eventually(asked, (id) => id !== '')
  const landed = await sm('approve', approval)
  // It is there when the command says so.
  expect(landed).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^Landed muster\/crew-\w+ on main \([0-9a-f]{7}\) in /m),
  })
  expect(git('ls-files')).toContain('second.mjs')
})
