import { accessSync, chmodSync, constants, statSync } from 'node:fs'
import { privateFolder } from '../adapters/system/durable-files.ts'
import { AppError } from '../contract/errors.ts'

/** The state folder, made when it is not there, private and writable, or a refusal that says what to do. */
export async function usableHome(home: string): Promise<string> {
  try {
    await privateFolder(home)
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK)
    // A folder that somebody made by hand may be open to others; ours alone may be closed without asking.
    const { mode, uid } = statSync(home)
    if ((mode & 0o077) !== 0 && uid === process.getuid?.()) chmodSync(home, 0o700)
    return home
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const cure = 'give it back with chown or chmod, or set MUSTER_HOME to another folder'
    throw new AppError(
      'denied',
      `the state folder ${home} cannot be written by this user (${code}); ${cure}`,
      { cause: error },
    )
  }
}
