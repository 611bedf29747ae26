/** OpenCode's own tools and permissions under the names that agent files are written with; others keep theirs. */
const names: Readonly<Record<string, string>> = {
  bash: 'Bash',
  read: 'Read',
  edit: 'Edit',
  multiedit: 'Edit',
  patch: 'Edit',
  apply_patch: 'Edit',
  write: 'Write',
  glob: 'Glob',
  list: 'Glob',
  grep: 'Grep',
  lsp: 'LSP',
  task: 'Agent',
  skill: 'Skill',
  todowrite: 'TodoWrite',
  todoread: 'TodoWrite',
  question: 'AskUserQuestion',
  webfetch: 'WebFetch',
  websearch: 'WebSearch',
  codesearch: 'WebSearch',
  plan_enter: 'EnterPlanMode',
  plan_exit: 'ExitPlanMode',
}

export const openCodeTool = (name: string): string =>
  Object.hasOwn(names, name) ? (names[name] ?? name) : name
