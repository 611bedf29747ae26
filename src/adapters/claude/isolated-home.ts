import { homedir } from 'node:os'
import { join } from 'node:path'
import type { ConfigHome } from '../../ports/isolation.ts'
import { configFolder } from './config-folder.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Written all the time, and of no use to another session. */
const fresh = [
  'todos',
  'shell-snapshots',
  'session-env',
  'statsig',
  'debug',
  'file-history',
  'paste-cache',
  'cache',
  'telemetry',
  'backups',
  'ide',
  'jobs',
  'daemon',
  'sessions',
  'tasks',
  'plans',
  'history.jsonl',
]

/** Claude Code's folder behind walls: its conversations and its login are the user's, its settings are copies. */
export function isolatedHome(env: Environment): {
  readonly env: Readonly<Record<string, string>>
  readonly homes: readonly ConfigHome[]
} {
  const path = configFolder(env)
  // Without this name the file lies beside the folder, where nothing can be written.
  const own = env['CLAUDE_CONFIG_DIR'] ? [] : [join(env['HOME'] || homedir(), '.claude.json')]
  return {
    env: { CLAUDE_CONFIG_DIR: path },
    homes: [
      {
        path,
        shared: [
          { name: 'projects', isFolder: true },
          { name: '.credentials.json', isFolder: false },
        ],
        fresh,
        copied: own.map((from) => ({ from, name: '.claude.json' })),
      },
    ],
  }
}
