import { homedir } from 'node:os'
import { join } from 'node:path'
import { unitName } from './service-unit.ts'

/** Where systemd looks for units of this user. */
export function unitPath(env: Readonly<Record<string, string | undefined>>): string {
  const config = env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config')
  return join(config, 'systemd', 'user', unitName)
}
