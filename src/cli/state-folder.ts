import { isAbsolute, join } from 'node:path'
import { AppError } from '../contract/errors.ts'
import { environmentNames } from '../contract/home.ts'

/** Finds the state folder: `MUSTER_HOME`, else the place that the XDG rules give. */
export function stateFolder(env: Readonly<Record<string, string | undefined>>, userHome: string): string {
  const named = env[environmentNames.home]
  if (named) {
    // A relative one would be a different daemon in every working folder.
    if (!isAbsolute(named))
      throw new AppError('invalid', `MUSTER_HOME is ${named}; set it to an absolute path`)
    return named
  }
  const xdg = env['XDG_STATE_HOME']
  return join(xdg && isAbsolute(xdg) ? xdg : join(userHome, '.local', 'state'), 'muster')
}
