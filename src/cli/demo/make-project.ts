import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { demonstrationFiles } from '../../contract/demonstration.ts'
import { AppError } from '../../contract/errors.ts'

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
