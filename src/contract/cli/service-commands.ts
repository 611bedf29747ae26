import { commandFamily } from './command.ts'

/** What runs without a person: the daemon as a service of the user, and the hooks of agents. */
export const serviceCommands = commandFamily({
  'service install': {
    group: 'maintenance',
    summary: 'start the daemon at login, and bring sessions back after a reboot (systemd)',
    needs: 'none',
    examples: [{ line: 'sm service install', does: 'write a systemd user unit, enable and start it' }],
  },
  'service uninstall': {
    group: 'maintenance',
    summary: 'undo `sm service install`; sessions keep running',
    needs: 'none',
    examples: [{ line: 'sm service uninstall', does: 'disable the unit and remove it' }],
  },
  hook: {
    group: 'maintenance',
    summary: 'report what the hook of an agent says; agents run this, not people',
    needs: 'daemon',
    answers: 'runHook',
    arguments: {
      cli: { takes: 'one', about: 'the agent whose hook it is' },
      event: { takes: 'one', about: 'the name of the hook' },
    },
    examples: [{ line: 'sm hook claude SessionStart', does: 'report the payload on stdin' }],
  },
})
