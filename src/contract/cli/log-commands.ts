import { commandFamily } from './command.ts'

/** Session files (STD-008): checking, reading, writing, repairing. */
export const logCommands = commandFamily({
  'log validate': {
    group: 'agents',
    summary: 'check session files against the format',
    needs: 'offline',
    arguments: { files: { takes: 'many', about: 'session files', isFile: true } },
    examples: [{ line: 'sm log validate 2026-01-27-001-login-multi.json', does: 'exit 1 on an error' }],
  },
  'log import': {
    group: 'agents',
    summary: 'read session files into the journal',
    needs: 'daemon',
    arguments: { files: { takes: 'many', about: 'session files or folders of them', isFile: true } },
    examples: [{ line: 'sm log import logs/', does: 'every session file below the folder' }],
  },
  'log export': {
    group: 'agents',
    summary: 'write the session file of a session',
    needs: 'daemon',
    arguments: { session: { takes: 'one', about: 'its short id, a unique prefix, or its name' } },
    options: {
      out: { kind: 'file', value: 'path', about: 'the file or folder to write; without it, printed' },
    },
    examples: [{ line: 'sm log export 1749a2fe --out logs/', does: 'a new file, named by the format' }],
  },
  'log migrate': {
    group: 'agents',
    summary: 'print an older file in the current format',
    needs: 'offline',
    arguments: { file: { takes: 'one', about: 'the session file; it is left as it is', isFile: true } },
    options: { out: { kind: 'file', value: 'path', about: 'the file to write; without it, printed' } },
    examples: [{ line: 'sm log migrate old.json --out new.json', does: 'a new file beside the old' }],
  },
  'log repair': {
    group: 'agents',
    summary: 'write a repaired copy, with a report',
    needs: 'offline',
    arguments: { file: { takes: 'one', about: 'the session file; it is left as it is', isFile: true } },
    options: {
      out: { kind: 'file', value: 'path', about: 'the file to write; without it, one beside the original' },
    },
    examples: [{ line: 'sm log repair broken.json', does: 'what can be saved, as broken-repaired.json' }],
  },
})
