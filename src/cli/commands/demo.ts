import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Client } from '../../client/client.ts'
import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { CommandInput } from '../../contract/cli.ts'
import {
  demonstrationFiles,
  demonstrationFolder,
  demonstrationRequest,
  demonstrationScript,
} from '../../contract/demonstration.ts'
import { AppError } from '../../contract/errors.ts'
import type { View } from '../command-module.ts'
import { followWorkflow } from '../follow-workflow.ts'
import type { Io } from '../io.ts'
import { painter } from '../render/paint.ts'
import { jsonText, shellQuote } from '../render/safe-text.ts'
import { terms } from '../render/table.ts'

const readingMs = 10_000

/** Has a crew of built-in agents do a small project, on a model that is scripted. */
export async function* playDemo({ once }: CommandInput<'demo'>, io: Io): AsyncGenerator<string> {
  const daemon = await io.daemon()
  const client = await daemon.client()
  const first = join(daemon.home, demonstrationFolder)
  const repo = freeFolder(first)
  if (once && (repo !== first || (await hasHistory(client, io)))) {
    if (io.isJson) yield `${jsonText(notPlayed(first), 2)}\n`
    return
  }
  await makeProject(daemon.home, repo)
  if (!io.isJson) yield 'Demo: a crew adds two functions to a small project (no model is called)\n'
  // On the scripted model whatever keys there are.
  const begun = await client.startCrew({
    request: demonstrationRequest,
    project_root: repo,
    crew: 'balanced',
    model: `scripted/${demonstrationScript}`,
  })
  const flow = yield* followWorkflow(client, { ...begun, indent: '  ' }, io)
  const shown = demoData(repo, flow)
  const view = { width: io.width(), now: io.now(), color: io.isColored }
  yield io.isJson ? `${jsonText(shown, 2)}\n` : `\n${renderDemo(shown, view)}\n`
  if (shown.verdict !== 'approved') throw new AppError('failed', 'the demo did not finish as expected')
}

const notPlayed = (repo: string): CommandOutput<'demo'> => ({
  played: false,
  session_id: null,
  session_file: null,
  workflow_id: null,
  branch: null,
  repo,
  verdict: null,
  rounds: null,
  approval_id: null,
})

function demoData(repo: string, flow: CommandOutput<'workflow show'>): CommandOutput<'demo'> {
  const { workflow_id, session_id, session_file, branch, report, approvals } = flow
  return {
    played: true,
    session_id,
    session_file,
    workflow_id,
    branch,
    repo,
    verdict: report?.outcome ?? null,
    rounds: report?.rounds.length ?? null,
    approval_id: approvals[0]?.approval_id ?? null,
  }
}

function freeFolder(first: string): string {
  let folder = first
  for (let n = 2; existsSync(folder); n++) folder = `${first}-${n}`
  return folder
}

/** Whether anything is known here; a daemon that has just been started may have to read its journal first. */
async function hasHistory(client: Client, io: Io): Promise<boolean> {
  const until = io.now() + readingMs
  while (true) {
    try {
      return (await client.listSessions({ limit: 1 }, { signal: io.signal })).sessions.length > 0
    } catch (error) {
      const isReading = error instanceof AppError && error.code === 'unavailable'
      if (!isReading || io.now() > until) throw error
      await io.sleep(100)
    }
  }
}

/** What is left of the demonstration, and where to look; nothing when it was not played. */
export function renderDemo(demo: CommandOutput<'demo'>, { color }: View): string {
  if (!demo.played) return ''
  const paint = painter(color)
  const look = [
    [`sm workflow show ${demo.workflow_id}`, 'the report'],
    [shellQuote(['git', '-C', demo.repo, 'log', '--graph', '--oneline', demo.branch ?? '']), 'the commits'],
    ...(demo.approval_id === null
      ? []
      : ([[`sm approve ${demo.session_id}`, `land ${demo.branch}; sm reject leaves it alone`]] as const)),
  ] as const
  return [
    `${paint('bold', `${demo.verdict ?? 'it failed'}`)} after ${demo.rounds ?? 0} rounds ${paint('dim', '(no model was called)')}`,
    '',
    'See the result',
    ...terms(look.map(([line, does]) => [line, paint('dim', does)])),
  ].join('\n')
}

const run = promisify(execFile)

// What a person has set for their own work has no say here: no signing, no hooks, no templates.
const settings = [
  ['user.name', 'Muster'],
  ['user.email', 'muster@localhost'],
  ['commit.gpgsign', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['init.defaultBranch', 'main'],
  ['init.templateDir', ''],
].flatMap(([name, value]) => ['-c', `${name}=${value}`])

/** Makes the project of the demonstration, whole or not at all, as a git repository with one commit. */
export async function makeProject(home: string, folder: string): Promise<void> {
  await mkdir(home, { recursive: true, mode: 0o700 })
  const draft = await mkdtemp(join(home, '.demo-'))
  try {
    for (const [name, text] of Object.entries(demonstrationFiles)) await writeFile(join(draft, name), text)
    await git(draft, 'init', '--quiet')
    await git(draft, 'add', '--all')
    await git(draft, 'commit', '--quiet', '--message', 'A greeting with a fault')
    await rename(draft, folder)
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    throw error
  }
}

async function git(cwd: string, ...args: string[]): Promise<void> {
  try {
    await run('git', [...settings, ...args], { cwd, timeout: 20_000 })
  } catch (error) {
    const { code, stderr = '' } = error as NodeJS.ErrnoException & { stderr?: string }
    throw code === 'ENOENT'
      ? new AppError('not_found', 'git was not found; install it, or put it on the PATH')
      : new AppError('failed', `git ${args[0]} failed: ${stderr.trim().slice(0, 400)}`)
  }
}
