import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cliSessions, scripted } from '../support/cli-session.ts'
import { cliPath, missingCli } from '../support/clis.ts'
import { eventually } from '../support/session-daemon.ts'

const bash = (command: string) => ({
  name: 'Bash',
  input: { command, description: 'as the script says', timeout: 600_000 },
})
const question = {
  question: 'Which colour?',
  header: 'Colour',
  multiSelect: false,
  options: [
    { label: 'Red', description: 'warm' },
    { label: 'Blue', description: 'cold' },
  ],
}

test('[SM-3][SM-130][SM-129] a parent inside Claude Code, with sm alone, spawns two children, answers one, corrects the other and collects both', async ({
  skip,
}) => {
  if (cliPath('claude') === undefined) return skip(missingCli({ name: 'claude', version: '2.1.325' }))
  const m = await cliSessions('claude', { config: 'child_agents: { mode: manual }\n' })
  const asking = scripted(
    [
      { tools: [{ name: 'AskUserQuestion', input: { questions: [question] } }] },
      { tools: [bash('sm complete "Painted as told"')], text: 'I was told: ${lastToolResult}' },
      { text: 'That was all.' },
    ],
    'Paint it.',
  )
  const correction = scripted(
    [{ tools: [bash('sm complete "JWT used, 26 tests pass"')] }, { text: 'That was all.' }],
    'Requirements changed: use JWT instead of sessions.',
  )
  writeFileSync(join(m.own.cwd, 'a.md'), asking)
  writeFileSync(join(m.own.cwd, 'b.md'), scripted([{ text: 'I use sessions.' }], 'Add a login.'))
  writeFileSync(join(m.own.cwd, 'correction.md'), correction)
  const spawnChild = (name: string) =>
    bash(`sm spawn claude --name ${name} --prompt-file ${name}.md --permission-mode bypass`)
  const parent = await m.spawn(
    scripted(
      [
        { tools: [spawnChild('a')] },
        { tools: [spawnChild('b')] },
        {
          tools: [bash('sm wait claude-a --for waiting --timeout 240 && sm approve claude-a --answer Blue')],
        },
        {
          tools: [
            bash(
              'sm wait claude-b --for idle --timeout 240 && sm send claude-b --file correction.md --wait 240',
            ),
          ],
        },
        { tools: [bash('sm wait claude-a claude-b --for complete --timeout 240 > /dev/null; sm children')] },
        { text: 'Collected: ${lastToolResult}' },
      ],
      'Run two engineers.',
    ),
    { permission_mode: 'bypass', name: 'em' },
  )
  const { children } = await eventually(
    () => m.client.listChildren({ id: parent.session_id }),
    (found) =>
      found.children.length === 2 && found.children.every(({ completion_status }) => completion_status),
  )
  expect(
    Object.fromEntries(children.map((child) => [child.friendly_name, child.completion_message])),
  ).toEqual({
    'claude-a': 'Painted as told',
    'claude-b': 'JWT used, 26 tests pass',
  })
  const output = await eventually(
    async () => (await m.client.getOutput({ id: parent.session_id, lines: 200 })).lines.join('\n'),
    (text) => text.includes('Collected:'),
  )
  expect(output).toMatch(/claude-a \(\w+\)\s+\| completed .*"Painted as told"/)
  const own = await eventually(
    () => m.client.listMessages({ id: parent.session_id }),
    ({ messages }) => messages.filter(({ preview }) => preview.includes('completed:')).length >= 2,
  )
  expect(own.messages.filter(({ preview }) => preview.includes('completed:'))).toHaveLength(2)
})
