import { author } from './author.ts'
import { git } from './run-git.ts'

/** Runs git on what is ours: nothing in the settings of the user may ask, sign, run, fetch or refuse. */
export const ownGit = (folder: string, args: readonly string[], signal: AbortSignal): Promise<string> =>
  git(folder, args, { signal, settings, env })

const settings = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.safecrlf=false',
  'commit.gpgSign=false',
  'merge.verifySignatures=false',
  'merge.autoStash=false',
  'merge.log=false',
  'rerere.enabled=false',
  'submodule.recurse=false',
  // A repack in the background would outlive the step.
  'gc.auto=0',
  'maintenance.auto=false',
].flatMap((setting) => ['-c', setting])

const env = { ...author, GIT_EDITOR: 'true', GIT_TERMINAL_PROMPT: '0', GIT_LITERAL_PATHSPECS: '1' }
