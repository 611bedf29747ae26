import { commandFamily } from './command.ts'

/** Starting, stopping and looking at the daemon. */
export const daemonCommands = commandFamily({
  up: {
    group: 'people',
    summary: 'start the daemon and print its address',
    needs: 'none',
    options: {
      foreground: { kind: 'switch', about: 'stay in this terminal until it is stopped' },
      replace: { kind: 'switch', about: 'stop the running daemon first and start this version' },
    },
    examples: [
      { line: 'sm up', does: 'start it, or say that it is already running' },
      { line: 'sm up --replace', does: 'after an upgrade: hand over to the new version' },
    ],
  },
  down: {
    group: 'people',
    summary: 'stop the daemon; sessions keep running',
    needs: 'none',
    options: { sessions: { kind: 'switch', about: 'end every session first; each is recorded as killed' } },
    examples: [
      { line: 'sm down', does: 'stop the daemon and leave sessions running' },
      { line: 'sm down --sessions', does: 'end all sessions, then the daemon' },
    ],
  },
  open: {
    group: 'people',
    summary: 'open the page in a browser, by a link that works once',
    needs: 'daemon',
    options: { print: { kind: 'switch', about: 'only print the link' } },
    examples: [{ line: 'sm open --print', does: 'a link to paste into a browser' }],
  },
  doctor: {
    group: 'people',
    summary: 'find problems and say how to fix them',
    needs: 'offline',
    examples: [{ line: 'sm doctor', does: 'check folders, disk, journal, daemon and tools' }],
  },
})

/** A family of its own: what prints the version loads nothing else. */
export const versionCommands = commandFamily({
  version: {
    group: 'people',
    summary: 'print the version and where it runs from',
    needs: 'none',
    examples: [{ line: 'sm version --json', does: 'the same for a script' }],
  },
})
