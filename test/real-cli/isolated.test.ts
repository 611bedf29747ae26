import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { cliSessions, scripted } from '../support/cli-session.ts'
import { cliPath, clis, missingCli } from '../support/clis.ts'
import { shellCall } from '../support/hermetic.ts'
import { eventually } from '../support/session-daemon.ts'

test.for(clis.filter(({ name }) => name === 'claude'))(
  '[MUS-210][MUS-358] $name $version works a turn behind walls: hooks, transcript, sm and its end; its settings stay as they were',
  async (cli, { skip }) => {
    const { name, version } = cli
    if (cliPath(name, version) === undefined) return skip(missingCli(cli))
    const m = await cliSessions(name, { version })
    const settings = join(m.own.env['CLAUDE_CONFIG_DIR'] ?? '', 'settings.json')
    const before = readFileSync(settings, 'utf8')
    // Records that others keep, in the same folder and elsewhere.
    const projects = join(m.own.env['CLAUDE_CONFIG_DIR'] ?? '', 'projects')
    const here = join(projects, realpathSync(m.own.cwd).replaceAll(/[^A-Za-z0-9]/g, '-'))
    const theirs = [
      join(here, `${randomUUID()}.jsonl`),
      join(projects, '-elsewhere', `${randomUUID()}.jsonl`),
    ]
    for (const file of theirs) {
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, '{}\n')
    }
    const forge = theirs.map((file) => `echo '{"lie":1}' >> ${file}; rm -f ${file}`).join('; ')
    const steal = `${forge}; ls ${projects} > seen.txt; cat ${m.home}/operator.token > stolen.txt; echo '{"hooks":{}}' > ${settings}; touch /usr/x`
    const prompt = scripted(
      [
        {
          text: 'I will write it.',
          tools: [shellCall(name, `sm checkpoint "half way (1/2)"; echo hi > made.txt; ${steal}; true`)],
          usage: { input: 1000, output: 20 },
        },
        {
          text: 'Done.',
          tools: [shellCall(name, 'sm complete "All good."')],
          usage: { input: 1500, output: 30 },
        },
        { text: 'That was all.', usage: { input: 1600, output: 7 } },
      ],
      'Please write a file.',
    )
    const one = await m.spawn(prompt, { permission_mode: 'bypass', isolation: 'bwrap' })
    const look = () => m.client.getSession({ id: one.session_id })
    const ended = await eventually(look, ({ completion_status }) => completion_status !== null)
    expect(ended).toMatchObject({
      status: 'completed',
      completion_message: 'All good.',
      checkpoints: [{ message: 'half way (1/2)' }],
    })
    expect(readFileSync(join(m.own.cwd, 'made.txt'), 'utf8')).toBe('hi\n')
    expect(readFileSync(join(m.own.cwd, 'stolen.txt'), 'utf8')).toBe('')
    expect(readFileSync(settings, 'utf8')).toBe(before)
    for (const file of theirs) expect(readFileSync(file, 'utf8')).toBe('{}\n')
    expect(readFileSync(join(m.own.cwd, 'seen.txt'), 'utf8')).toBe(`${basename(here)}\n`)
    // Its transcript lies where it always does, and is read from there.
    await eventually(look, ({ tokens_used }) => tokens_used === 1000 + 20 + 1500 + 30 + 1600 + 7)
    await m.client.killSession({ id: one.session_id, force: true })
    expect(m.processes()).toEqual([])
    expect(existsSync(join(m.home, 'sessions', one.session_id))).toBe(false)
  },
)

test.for(clis.filter(({ name }) => name === 'claude'))(
  '[MUS-358] $name $version behind walls keeps its record where its CLI looks for it, also in a folder with a long path',
  async (cli, { skip }) => {
    const { name, version } = cli
    if (cliPath(name, version) === undefined) return skip(missingCli(cli))
    const m = await cliSessions(name, { version })
    const work = join(m.own.cwd, ...Array.from({ length: 8 }, (_, i) => `a folder with a long name ${i}`))
    mkdirSync(work, { recursive: true })
    const prompt = scripted([{ text: 'Hello.', usage: { input: 1000, output: 20 } }], 'Say hello.')
    const one = await m.spawn(prompt, { permission_mode: 'bypass', isolation: 'bwrap', working_dir: work })
    await eventually(
      () => m.client.getSession({ id: one.session_id }),
      ({ tokens_used }) => tokens_used === 1020,
    )
    await m.client.killSession({ id: one.session_id, force: true })
  },
)
