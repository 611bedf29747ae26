import { commandFamily } from './command.ts'

/** The live screen of all sessions. */
export const watchCommand = commandFamily({
  watch: {
    group: 'people',
    summary: 'show all sessions live; so does sm alone',
    needs: 'daemon',
    arguments: {},
    options: {},
    examples: [
      { line: 'sm watch', does: 'a full screen; ? lists the keys, q leaves it' },
      { line: 'sm watch --json', does: 'the sessions, one line whenever something changed' },
    ],
  },
})
