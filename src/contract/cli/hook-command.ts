import { commandFamily } from './command.ts'

/** What the hooks of agents run; nobody types it. */
export const hookCommand = commandFamily({
  hook: {
    group: 'maintenance',
    summary: 'report what a hook of an agent says; run by the hooks themselves',
    needs: 'daemon',
    arguments: {
      cli: { takes: 'one', about: 'the agent whose hook it is' },
      event: { takes: 'one', about: 'the name of the hook' },
    },
    options: {},
    examples: [{ line: 'sm hook claude SessionStart', does: 'report the payload on stdin' }],
  },
})
