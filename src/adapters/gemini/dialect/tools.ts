/** Gemini's own tools under the names that agent files are written with; others keep theirs. */
export const geminiTools: Readonly<Record<string, string>> = {
  run_shell_command: 'Bash',
  list_background_processes: 'Bash',
  read_background_output: 'Bash',
  read_file: 'Read',
  read_many_files: 'Read',
  write_file: 'Write',
  replace: 'Edit',
  glob: 'Glob',
  list_directory: 'Glob',
  grep_search: 'Grep',
  search_file_content: 'Grep',
  google_web_search: 'WebSearch',
  web_fetch: 'WebFetch',
  write_todos: 'TodoWrite',
  ask_user: 'AskUserQuestion',
  enter_plan_mode: 'EnterPlanMode',
  exit_plan_mode: 'ExitPlanMode',
  activate_skill: 'Skill',
  invoke_agent: 'Agent',
}

export const geminiTool = (name: string): string =>
  Object.hasOwn(geminiTools, name) ? (geminiTools[name] ?? name) : name
