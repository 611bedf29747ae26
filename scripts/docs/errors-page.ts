import { errorCodes } from '../../src/contract/errors.ts'
import { issueCodes } from '../../src/contract/session-file/issue.ts'
import { code, markdownTable, page } from './markdown.ts'

/** The reference of refusals and of what can be wrong with a session file. */
export function errorsPage(): string {
  return page('Errors', [
    'Every refusal has a stable code, a message that says what to do next, and sometimes details.',
    markdownTable([
      ['code', 'HTTP', 'exit', 'means'],
      ...Object.entries(errorCodes).map(([name, { http, exit, means }]) => [
        code(name),
        String(http),
        String(exit),
        means,
      ]),
    ]),
    '## Session files',
    '`sm log validate` names what is wrong with a session file by these codes.',
    markdownTable([
      ['code', 'severity', 'means'],
      ...Object.entries(issueCodes).map(([name, { severity, means }]) => [code(name), severity, means]),
    ]),
  ])
}
