import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { tempFolder } from './temp-journal.ts'

/** Runs git as a person would; answers without the last line break. */
export const runGit = (cwd: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).replace(/\n$/, '')

/** Writes files below a folder. */
export function put(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
}

/** A repository with one commit: a file that is kept, and a name that is ignored. */
export function repository(folder = tempFolder('muster-git-test-')): string {
  mkdirSync(folder, { recursive: true })
  runGit(folder, 'init', '-q', '-b', 'main')
  runGit(folder, 'config', 'user.email', 'a@b')
  runGit(folder, 'config', 'user.name', 'a')
  put(folder, { 'kept.txt': 'one\n', '.gitignore': 'ignored.txt\n' })
  commitFiles(folder, {}, 'first')
  return folder
}

/** Commits files as a person does, and answers the commit. */
export function commitFiles(
  folder: string,
  files: Readonly<Record<string, string>>,
  message = 'more',
): string {
  put(folder, files)
  runGit(folder, 'add', '-A')
  runGit(folder, 'commit', '-qm', message)
  return runGit(folder, 'rev-parse', 'HEAD')
}
