/** pi's own tools under the names that agent files are written with; others keep theirs. */
export const piTools: Readonly<Record<string, string>> = {
  read: 'Read',
  bash: 'Bash',
  edit: 'Edit',
  write: 'Write',
  grep: 'Grep',
  find: 'Glob',
  ls: 'Glob',
}

export const piTool = (name: string): string =>
  Object.hasOwn(piTools, name) ? (piTools[name] ?? name) : name
