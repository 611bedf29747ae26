import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runProgram } from '../cli/run-sm.ts'
import { startDaemonProcess } from '../support/daemon-process.ts'
import { put } from '../support/git-repository.ts'
import { smProgram } from '../support/programs.ts'
import { runtimeHome } from '../support/runtime-daemon.ts'
import { whenOver } from '../support/shared.ts'
import { tempFolder } from '../support/temp-journal.ts'

test('[MUS-381] sm spawn finds the agents of the folder it is run in, in either format, and says what of them is not trusted', async () => {
  const folderOfClaude = tempFolder('claude-')
  const claude = join(folderOfClaude, 'claude')
  writeFileSync(claude, "#!/bin/sh\necho '2.1.325 (Claude Code)'\n", { mode: 0o755 })
  const { home, project, settings } = runtimeHome({ config: `claude: { default_command: ${claude} }\n` })
  const daemon = await startDaemonProcess(home, { env: { ...settings, TMUX_TMPDIR: home } })
  whenOver(() => daemon.kill('SIGKILL'))
  const folder = join(project, 'src/deep')
  mkdirSync(folder, { recursive: true })
  put(project, { '.claude/agents/helper.md': '---\nname: helper\ndescription: Helps: always\n---\nHelp.\n' })
  put(home, { '.claude/agents/mine.md': '---\nname: mine\ndescription: x\ntools: Read\n---\nRead.\n' })
  const env = { PATH: process.env['PATH'], HOME: home, MUSTER_HOME: home, NODE_NO_WARNINGS: '1', ...settings }
  const sm = (...args: string[]) => runProgram(process.execPath, [smProgram, ...args], { cwd: folder, env })
  const spawned = async (name: string) => {
    const { code, stdout, stderr } = await sm('spawn', name, 'x', '--dry-run')
    expect({ name, code, stdout }).toEqual({
      name,
      code: 0,
      stdout: expect.stringContaining(`Nothing was started. It would be ${name}-`),
    })
    return stderr
  }
  const listed = JSON.parse((await sm('agents', 'list', '--json')).stdout) as {
    name: string
    source: string
  }[]
  expect(listed).toContainEqual(expect.objectContaining({ name: 'helper', source: 'project' }))
  expect(listed).toContainEqual(expect.objectContaining({ name: 'mine', source: 'user' }))
  const checked = await sm('agents', 'check')
  expect(checked.code).toBe(0)
  expect(checked.stdout).toContain("helper.md:3: warning: the description contains ': '; put it in quotes")
  expect(checked.stdout).toContain('mine.md:4: warning: its tools mean policy: []')

  expect(await spawned('mine')).toBe('')
  expect(await spawned('helper')).toContain(
    'helper is not trusted as it is, so this is not in force: may change files',
  )
  expect((await sm('trust', '--yes')).code).toBe(0)
  expect(await spawned('helper')).toBe('')

  const made = await sm('agents', 'new', 'fixer')
  expect(made.stdout).toContain('sm spawn fixer "a first task"')
  await spawned('fixer')
  // What sm ask finds here, sm spawn has found too.
  const asked = await sm('ask', 'fixer', 'SCRIPT:[{"text":"hello"}]', '--model', 'scripted')
  expect(asked).toMatchObject({ code: 0, stdout: expect.stringContaining('hello') })
})
