import type { DialogRule } from '../../system/screen-dialogs.ts'

/** What OpenCode shows, as data: each new version that looks different gets an entry of its own. */
export type OpenCodeScreenRules = {
  readonly placeholder: RegExp
  readonly working: RegExp
  readonly retry: RegExp
  readonly queued: RegExp
  readonly dialogs: readonly DialogRule[]
}

export const openCodeScreenRules: readonly (readonly [since: string, rules: OpenCodeScreenRules])[] = [
  [
    '1.18.33',
    {
      placeholder: /^Ask anything/,
      working: /\besc (again to )?interrupt\b/,
      retry: /\[retrying attempt #(\d+)\]/,
      queued: /\bQUEUED\b/,
      dialogs: [
        { kind: 'permission', says: /△ (Permission required|Always allow|Reject permission)/ },
        { kind: 'question', says: /enter (submit|confirm|toggle).*esc dismiss/ },
      ],
    },
  ],
]
