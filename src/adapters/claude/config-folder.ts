import { homedir } from 'node:os'
import { join } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

/** Where Claude Code keeps its settings and conversations. */
export const configFolder = (env: Environment): string =>
  env['CLAUDE_CONFIG_DIR'] || join(env['HOME'] || homedir(), '.claude')

/** The folder of a project's conversations: its path with a dash for whatever is no letter or digit. */
export const projectFolder = (env: Environment, workingDir: string): string =>
  join(configFolder(env), 'projects', workingDir.replaceAll(/[^A-Za-z0-9]/g, '-'))
