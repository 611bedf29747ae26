/** Codex's own tools under the names that agent files are written with; others keep theirs. */
const names: Readonly<Record<string, string>> = {
  exec_command: 'Bash',
  shell: 'Bash',
  shell_command: 'Bash',
  local_shell: 'Bash',
  write_stdin: 'Bash',
  apply_patch: 'Edit',
  view_image: 'Read',
  update_plan: 'TodoWrite',
  web_search: 'WebSearch',
  spawn_agent: 'Agent',
  request_user_input: 'AskUserQuestion',
}

export const codexTool = (name: string): string => (Object.hasOwn(names, name) ? (names[name] ?? name) : name)
