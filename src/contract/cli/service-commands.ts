import { commandFamily } from './command.ts'

/** The daemon as a service of the user, so that sessions come back after a reboot. */
export const serviceCommands = commandFamily({
  'service install': {
    group: 'maintenance',
    summary: 'start the daemon at login, and bring sessions back after a reboot (systemd)',
    needs: 'none',
    arguments: {},
    options: {},
    examples: [{ line: 'sm service install', does: 'write a systemd user unit, enable and start it' }],
  },
  'service uninstall': {
    group: 'maintenance',
    summary: 'undo `sm service install`; sessions go on',
    needs: 'none',
    arguments: {},
    options: {},
    examples: [{ line: 'sm service uninstall', does: 'disable the unit and remove it' }],
  },
})
