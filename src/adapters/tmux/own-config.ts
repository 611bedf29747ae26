import { existsSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The settings of our own server, one tmux command each. A server that outlived an upgrade gets them again, so
 * they must bear repeating; `-q` skips what an older tmux does not know.
 */
export function ownConfig(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return [
    'set-option -sq exit-empty off',
    'set-option -sq escape-time 0',
    'set-option -sq focus-events on',
    'set-option -sq extended-keys on',
    `set-option -sq default-terminal ${knows('tmux-256color', env) ? 'tmux-256color' : 'screen-256color'}`,
    'set-option -gq prefix None',
    'set-option -gq prefix2 None',
    'set-option -gq status off',
    'set-option -gq mouse on',
    'set-option -gq history-limit 50000',
    'set-option -gq set-titles off',
    'set-option -gq detach-on-destroy on',
    'set-option -gq destroy-unattached off',
    'set-option -gwq remain-on-exit on',
    'set-option -gwq window-size latest',
    'set-option -gwq allow-rename off',
    'bind-key -T root C-q detach-client',
  ]
}

/** Whether the terminfo database has an entry; macOS names the folders by the letter's code. */
function knows(terminal: string, env: Readonly<Record<string, string | undefined>>): boolean {
  const folders = [
    env.TERMINFO,
    env.HOME === undefined ? undefined : join(env.HOME, '.terminfo'),
    ...(env.TERMINFO_DIRS?.split(':') ?? []),
    '/etc/terminfo',
    '/lib/terminfo',
    '/usr/share/terminfo',
    '/usr/local/share/terminfo',
    '/opt/homebrew/share/terminfo',
  ].filter((folder): folder is string => folder !== undefined && folder !== '')
  const letter = terminal.slice(0, 1)
  const code = letter.charCodeAt(0).toString(16)
  return folders.some((folder) => [letter, code].some((name) => existsSync(join(folder, name, terminal))))
}
