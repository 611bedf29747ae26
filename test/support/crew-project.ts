import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { demonstrationFiles } from '../../src/contract/demonstration.ts'

/** The project of the demonstration as a git repository of its own, and git in it. */
export function crewProject(folder: string) {
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(demonstrationFiles)) writeFileSync(join(folder, name), text)
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=T', '-c', 'user.email=t@localhost', ...args], {
      encoding: 'utf8',
    })
  git('init', '-q', '-b', 'main')
  git('add', '-A')
  git('commit', '-qm', 'A greeting')
  return git
}
