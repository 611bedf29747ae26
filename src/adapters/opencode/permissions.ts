import type { PermissionMode } from '../../contract/values.ts'

/** What OpenCode does when a tool of this permission is called; what is not named stays as the user has it. */
export type OpenCodePermissions = Readonly<Record<string, 'ask' | 'allow' | 'deny'>>

/**
 * OpenCode lets nearly everything run unless told otherwise, so asking is turned on. `plan` is an agent of its own
 * that edits nothing, and `bypass` a flag; neither changes what the user has denied.
 */
const modes: Readonly<Record<PermissionMode, OpenCodePermissions>> = {
  manual: { edit: 'ask', bash: 'ask', webfetch: 'ask', websearch: 'ask', codesearch: 'ask' },
  acceptEdits: { edit: 'allow', bash: 'ask', webfetch: 'ask', websearch: 'ask', codesearch: 'ask' },
  plan: { bash: 'ask', webfetch: 'ask', websearch: 'ask', codesearch: 'ask' },
  bypass: {},
}

/** Which tools of a role need a permission. */
const needs: Readonly<Record<string, readonly string[]>> = {
  read: ['Read'],
  edit: ['Edit', 'Write', 'MultiEdit'],
  bash: ['Bash'],
  glob: ['Glob'],
  list: ['Glob'],
  grep: ['Grep'],
  lsp: ['LSP'],
  task: ['Task', 'Agent'],
  skill: ['Skill'],
  webfetch: ['WebFetch'],
  websearch: ['WebSearch'],
  codesearch: ['WebSearch'],
  todowrite: ['TodoWrite'],
  todoread: ['TodoWrite'],
  question: ['AskUserQuestion'],
  plan_enter: ['EnterPlanMode'],
  plan_exit: ['ExitPlanMode'],
}

/** The permissions of a session. A role's limits hold here too, where neither the plugin nor the daemon is needed. */
export function openCodePermissions(mode: PermissionMode, tools?: readonly string[]): OpenCodePermissions {
  if (!tools) return modes[mode]
  const denied = Object.entries(needs).filter(([, names]) => !names.some((name) => tools.includes(name)))
  return {
    ...modes[mode],
    ...Object.fromEntries(denied.map(([permission]) => [permission, 'deny' as const])),
  }
}
