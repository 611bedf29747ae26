import { expect, test } from 'vitest'
import { launchRequest } from '../../../test/support/launch-request.ts'
import { openCodePlan } from './opencode-launch.ts'

const plan = (fields: Parameters<typeof launchRequest>[1] = {}) =>
  openCodePlan(launchRequest('/tmp/f', fields))
const json = (text: string | undefined) => JSON.parse(text ?? '{}')

test('[SM-44] plugin and role lie on top of what the user has in the environment', async () => {
  const mine = {
    OPENCODE_CONFIG_CONTENT: '{"theme":"x","plugin":["mine"]}',
    OPENCODE_PERMISSION: '{"bash":"allow","doom_loop":"deny"}',
  }
  const made = await plan({ env: mine, role: { text: 'be kind' } })
  expect(json(made.env['OPENCODE_CONFIG_CONTENT'])).toEqual({
    theme: 'x',
    plugin: ['mine', 'file:///tmp/f/opencode-plugin.js'],
    instructions: ['/tmp/f/opencode-role.md'],
  })
  expect(json(made.env['OPENCODE_PERMISSION'])).toMatchObject({ bash: 'ask', doom_loop: 'deny' })
  await expect(plan({ env: { OPENCODE_CONFIG_CONTENT: '{' } })).rejects.toMatchObject({ code: 'invalid' })
})

test.for([
  ['manual', [], { edit: 'ask', bash: 'ask' }],
  ['acceptEdits', [], { edit: 'allow', bash: 'ask' }],
  ['plan', ['--agent=plan'], { bash: 'ask' }],
  ['bypass', ['--auto'], {}],
] as const)(
  '[MUS-146] the mode %s is the nearest that OpenCode has',
  async ([permissionMode, words, permissions]) => {
    const made = await plan({ permissionMode })
    expect(made.argv.slice(1)).toEqual(words)
    expect(json(made.env['OPENCODE_PERMISSION'])).toMatchObject(permissions)
  },
)

test('[MUS-209] a role’s tools are denied by OpenCode itself as well', async () => {
  const made = await plan({ permissionMode: 'bypass', role: { text: '', tools: ['Read', 'Write'] } })
  const permissions = json(made.env['OPENCODE_PERMISSION'])
  expect(permissions).toMatchObject({ bash: 'deny', task: 'deny', webfetch: 'deny', glob: 'deny' })
  expect(permissions).toMatchObject({ todowrite: 'deny', question: 'deny', plan_exit: 'deny' })
  expect(permissions).not.toHaveProperty('read')
  expect(permissions).not.toHaveProperty('edit')
})

test('[SM-43] a prompt is given at the start, and typed when a conversation goes on', async () => {
  const first = await plan({ prompt: '--x', model: 'p/m' })
  expect([first.argv.slice(1), first.isPromptGiven]).toEqual([['--model=p/m', '--prompt=--x'], true])
  const later = await plan({ prompt: 'more', resume: true, foreignId: 'ses_1' })
  expect([later.argv.slice(1), later.isPromptGiven]).toEqual([['--session=ses_1'], false])
})
