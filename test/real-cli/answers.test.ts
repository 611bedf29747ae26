import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, type TestContext, test } from 'vitest'
import { cliSessions, scripted } from '../support/cli-session.ts'
import { type Cli, cliPath, clis, missingCli } from '../support/clis.ts'
import { askingCall } from '../support/hermetic.ts'
import { eventually } from '../support/session-daemon.ts'

async function open(cli: Cli, { skip }: TestContext) {
  if (cliPath(cli.name, cli.version) === undefined) skip(missingCli(cli))
  const m = await cliSessions(cli.name, {
    version: cli.version,
    config: 'child_agents: { mode: manual }\n',
  })
  const shows = (id: string, words: RegExp) =>
    eventually(
      async () => (await m.client.getOutput({ id, lines: 80 })).lines.join('\n'),
      (text) => words.test(text),
    )
  const waits = () =>
    eventually(
      () => m.client.listApprovals({}),
      ({ approvals }) => approvals.length > 0,
    )
  return { m, shows, waits }
}

const colour = {
  question: 'Which colour?',
  header: 'Colour',
  options: [
    { label: 'Red', description: 'as blood' },
    { label: 'Blue', description: 'as the sea' },
  ],
}
const sizes = {
  question: 'Which sizes?',
  header: 'Sizes',
  options: [
    { label: 'Small', description: 's' },
    { label: 'Large', description: 'l' },
  ],
}

/** How each CLI that asks questions through a hook is made to ask two, the second with several answers. */
const asking: Readonly<Record<string, { name: string; many: object }>> = {
  claude: { name: 'AskUserQuestion', many: { multiSelect: true } },
  opencode: { name: 'question', many: { multiple: true } },
}

describe.each(clis.filter(({ name }) => Object.hasOwn(asking, name)))('$name $version', (cli) => {
  test('[MUS-333] two questions are both shown and both answered, or nothing is', async (context) => {
    const { m, shows, waits } = await open(cli, context)
    const { name = '', many = {} } = asking[cli.name] ?? {}
    const one = cli.name === 'claude' ? { ...colour, multiSelect: false } : colour
    const call = { name, input: { questions: [one, { ...sizes, ...many }] } }
    const { session_id: id } = await m.spawn(
      scripted([{ text: 'Asking.', tools: [call] }, { text: 'You said: ${lastToolResult}' }], 'Begin.'),
    )
    await waits()
    const { text } = await m.sm('approvals')
    expect(text).toMatch(/Colour: Which colour\? \(choose one\)\n {6}- Red: as blood\n {6}- Blue/)
    expect(text).toMatch(/Sizes: Which sizes\? \(choose one or several\)\n {6}- Small: s/)
    expect(text).toContain('--answer Colour=… --answer Sizes=… --answer Sizes=…')

    for (const given of [[], ['--answer', 'Red'], ['--answer', 'Colour=Red']]) {
      const refused = await m.sm('approve', id, ...given)
      expect(refused).toMatchObject({ code: 2, text: expect.stringMatching(/Which sizes\?.*Small \| Large/) })
    }
    await expect(m.client.sendMessage({ id, text: 'Red' })).rejects.toMatchObject({ code: 'invalid' })
    expect(await m.client.getSession({ id })).toMatchObject({
      status: 'waiting_input',
      waiting_for: 'question',
    })
    expect((await m.client.listApprovals({})).approvals).toHaveLength(1)

    const answers = ['--answer', 'Colour=Blue', '--answer', 'Sizes=Small', '--answer', 'Sizes=Large']
    expect(await m.sm('approve', id, ...answers)).toMatchObject({ code: 0 })
    const said = await shows(id, /You said:[\s\S]*Large/)
    expect(said.slice(said.indexOf('You said:'))).toMatch(/Blue[\s\S]*Small[\s\S]*Large/)
  })
})

test.for(clis.filter(({ name }) => Object.hasOwn(asking, name)))(
  '[MUS-336] $name $version: words that are sent answer the question that was asked when the daemon was killed',
  async (cli, context) => {
    const { m, shows, waits } = await open(cli, context)
    const call = {
      name: asking[cli.name]?.name ?? '',
      input: { questions: [{ ...colour, multiSelect: false }] },
    }
    const { session_id: id } = await m.spawn(
      scripted([{ text: 'Asking.', tools: [call] }, { text: 'You said: ${lastToolResult}' }], 'Begin.'),
    )
    await waits()
    await m.restart('SIGKILL')
    expect(await m.sm('send', id, 'Blue')).toMatchObject({ code: 0 })
    await shows(id, /You said:[\s\S]*Blue/)
  },
)

test.for(clis.filter(({ name }) => name === 'claude'))(
  '[MUS-334] $name $version: two questions that were asked when the daemon was killed are not answered by one answer',
  async (cli, context) => {
    const { m, waits } = await open(cli, context)
    const call = { name: 'AskUserQuestion', input: { questions: [colour, sizes] } }
    const { session_id: id } = await m.spawn(scripted([{ text: 'Asking.', tools: [call] }], 'Begin.'))
    await waits()
    await m.restart('SIGKILL')
    const refused = await m.sm('approve', id, '--answer', 'Red')
    expect(refused).toMatchObject({ code: 4, text: expect.stringMatching(/Which colour.*Which sizes/) })
    await expect(m.client.sendMessage({ id, text: 'Red' })).rejects.toMatchObject({ code: 'conflict' })
    const { approvals } = await m.client.listApprovals({})
    expect(approvals.map(({ action }) => action)).toEqual(['Which colour?\nWhich sizes?'])
    expect(await m.client.getSession({ id })).toMatchObject({
      status: 'waiting_input',
      waiting_for: 'question',
    })
  },
)

describe.each(clis)('$name $version', (cli) => {
  test('[MUS-336] a permission that was asked when the daemon was killed can be answered at once, by its session or its id', async (context) => {
    const { m, waits } = await open(cli, context)
    const call = (file: string) => ({ text: 'Next.', tools: [askingCall(cli.name, `echo x > ${file}`)] })
    const { session_id: id } = await m.spawn(
      scripted([call('one.txt'), call('two.txt'), { text: 'Done.' }], 'Begin.'),
      { permission_mode: 'manual' },
    )
    const made = (file: string) =>
      eventually(
        async () => existsSync(join(m.own.cwd, file)),
        (isThere) => isThere,
      )
    await waits()
    await m.restart('SIGKILL')
    expect(await m.sm('approve', id)).toMatchObject({ code: 0, text: expect.stringContaining('Approved') })
    await made('one.txt')
    const second = await m.asked('two.txt')
    await m.restart('SIGKILL')
    // Where its dialog does not show the call as the hook told it, the old id is refused with the new one.
    const again = await m.sm('approve', second.approval_id)
    const [, id2] = /what is asked now is (apr_\w+)/.exec(again.text) ?? []
    if (again.code !== 0) expect(await m.sm('approve', id2 ?? '')).toMatchObject({ code: 0 })
    await made('two.txt')
    expect(await m.sm('approve', second.approval_id)).toMatchObject({ code: 4 })
  })
})
