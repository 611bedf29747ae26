import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { AppError } from '../../contract/errors.ts'

const run = promisify(execFile)
const mostBytes = 64 << 20

/** Runs git in a folder; a failure says what git said. */
export async function git(folder: string, args: readonly string[], options: Options): Promise<string> {
  try {
    const { stdout } = await run('git', ['-C', folder, ...(options.settings ?? []), ...args], {
      maxBuffer: mostBytes,
      encoding: options.encoding ?? 'utf8',
      signal: options.signal,
      // What a person's shell or a hook says of another repository must not lead it astray.
      env: { ...withoutGit(process.env), GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C', ...options.env },
    })
    return stdout
  } catch (cause) {
    if (options.signal.aborted) throw cause
    const { code, stderr } = cause as { code?: string | number; stderr?: string }
    if (code === 'ENOENT') throw new AppError('unavailable', 'git is not installed', { cause })
    const lines = (stderr ?? '').trim().split('\n')
    const said = lines.find((line) => /^(fatal|error):/.test(line)) ?? lines[0] ?? ''
    throw new AppError('failed', `git ${args[0]} failed in ${folder}: ${said || String(cause)}`, {
      cause,
      details: { isDistrusted: isDistrusted(stderr ?? '') } satisfies GitFailure,
    })
  }
}

/** Git has one exit code for every fatal end: only what it prints, in the C locale, names a repository it does not trust. */
const isDistrusted = (stderr: string): boolean => /^fatal: detected dubious ownership /m.test(stderr)

/** What is known of a failure of git beyond its words. */
export type GitFailure = { readonly isDistrusted: boolean }

type Options = {
  readonly signal: AbortSignal
  readonly env?: Readonly<Record<string, string>>
  /** Latin1 keeps every byte of a file apart. */
  readonly encoding?: 'utf8' | 'latin1'
  /** Options of git itself, before the command. */
  readonly settings?: readonly string[]
}

const withoutGit = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GIT_')))
