import { isAbsolute, join } from 'node:path'
import { AppError } from '../../contract/errors.ts'

/** What the environment says about places. */
export type PathEnvironment = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly home: string
}

/** Where Muster keeps and looks for things. */
export type MusterPaths = {
  readonly stateDir: string
  readonly userConfig: string
  /** A file that was named by hand must exist; the usual one need not. */
  readonly isUserConfigNamed: boolean
  readonly userAgentsDir: string
  readonly userCrewsDir: string
}

/** Finds Muster's folders by the XDG rules, `MUSTER_HOME` and `MUSTER_CONFIG`. */
export function musterPaths({ env, home }: PathEnvironment): MusterPaths {
  const configDir = join(xdg(env['XDG_CONFIG_HOME']) ?? join(home, '.config'), 'muster')
  const named = absolute('MUSTER_CONFIG', env)
  return {
    stateDir:
      absolute('MUSTER_HOME', env) ??
      join(xdg(env['XDG_STATE_HOME']) ?? join(home, '.local', 'state'), 'muster'),
    userConfig: named ?? join(configDir, 'config.yaml'),
    isUserConfigNamed: named !== undefined,
    userAgentsDir: join(configDir, 'agents'),
    userCrewsDir: join(configDir, 'crews'),
  }
}

// The XDG rules say that a relative path in one of its variables is to be ignored.
function xdg(value: string | undefined): string | undefined {
  return value !== undefined && isAbsolute(value) ? value : undefined
}

// A relative state folder would be a different one in every working folder.
function absolute(name: string, env: PathEnvironment['env']): string | undefined {
  const value = env[name]
  if (value === undefined || value === '') return undefined
  if (!isAbsolute(value)) throw new AppError('invalid', `${name} is ${value}; set it to an absolute path`)
  return value
}
