import { execFileSync } from 'node:child_process'
import { chmodSync, lstatSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { systemProcesses } from '../../src/adapters/system/processes.ts'
import { agentTools, type ToolSurroundings } from '../../src/adapters/tools/agent-tools.ts'
import { matchesGlob } from '../../src/core/delegation/globs.ts'
import type { ToolContext } from '../../src/ports/tools.ts'
import { toolBench } from './tool-bench.ts'

export const processes = systemProcesses(systemClock)
export const secrets = {
  ANTHROPIC_API_KEY: 'sk-1',
  MUSTER_TOKEN: 'mst_1',
  AWS_SECRET_ACCESS_KEY: 'x',
  BASH_ENV: '/x',
}

/** A Bash of our own in a workspace of its own, with secrets around it. */
export function bashBench(more: Partial<ToolContext> = {}, around: Partial<ToolSurroundings> = {}) {
  const env = { ...process.env, ...secrets }
  const b = toolBench(agentTools({ env, processes, matchesGlob, ...around }), more)
  return {
    ...b,
    bash: (command: string, other: Record<string, unknown> = {}, context: Partial<ToolContext> = {}) =>
      b.call('Bash', { command, ...other }, context),
  }
}

/** Those whose command line holds a word that only this test uses. */
export async function running(word: string): Promise<readonly number[]> {
  const all = await processes.list(new AbortController().signal)
  return all.filter((one) => one.command.includes(word)).map((one) => one.pid)
}

let count = 0
/** A command that no other test runs. */
export const rareSleep = () => `sleep 7${process.pid}${(count += 1)}`

/** Every path with what it is, so that any change shows. */
export function everything(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => {
      const path = join(entry.parentPath, entry.name)
      const content = entry.isFile() ? readFileSync(path, 'base64') : ''
      return [path, `${lstatSync(path).mode} ${content}`]
    }),
  )
}

/** A small project under git, with what is ignored and what is linked. */
export function bashProject(more: Partial<ToolContext>, around: Partial<ToolSurroundings>) {
  const b = bashBench(more, around)
  b.put('README.md', 'read\n')
  b.put('src/lib.ts', 'lib\n')
  b.put('ignored/old', 'old')
  b.put('.gitignore', 'ignored\n')
  symlinkSync('README.md', join(b.workspace, 'link'))
  chmodSync(join(b.workspace, 'README.md'), 0o640)
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: b.workspace })
  git('init', '-q')
  git('config', 'user.name', 't')
  git('config', 'user.email', 't@t')
  git('add', '.')
  git('commit', '-qm', 'first')
  return b
}
