import { execFile } from 'node:child_process'
import { codingCliNames } from '../src/contract/agent-clis.ts'

const programs = ['git', 'tmux', ...codingCliNames]
const keys = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'GOOGLE_API_KEY', 'OPENROUTER_API_KEY']

/** Names what this machine has, by asking the programs themselves; no file is read and no value is shown. */
export async function found(env) {
  const rows = await Promise.all(programs.map(async (name) => [name, await versionOf(name, env)]))
  const set = keys.filter((name) => env[name])
  return [...rows, ['keys', set.length === 0 ? 'none in the environment' : set.join(', ')]]
}

function versionOf(name, env) {
  const argument = name === 'tmux' ? '-V' : '--version'
  return new Promise((resolve) => {
    execFile(
      name,
      [argument],
      { env, timeout: 3000, killSignal: 'SIGKILL', maxBuffer: 64 * 1024 },
      (error, stdout) => {
        if (error?.code === 'ENOENT') resolve('not found')
        else if (error) resolve('found, version unknown')
        else resolve(stdout.match(/\d+\.\d+[\w.-]*/)?.[0] ?? 'found')
      },
    ).stdin?.end()
  })
}
