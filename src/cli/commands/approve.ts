import { AppError } from '../../contract/errors.ts'
import type { DataCommand } from '../command-module.ts'
import { renderDecision } from '../render/approvals.ts'

export const approve: DataCommand<'approve'> = {
  run: async ({ id, always, session, answer }, io) => {
    if (always && session) throw new AppError('invalid', '--always and --session exclude each other')
    const scope = always ? 'always' : session ? 'session' : 'once'
    const client = await (await io.daemon()).client()
    return client.decideApproval(
      { id, verdict: 'allow', scope, ...(answer.length > 0 && { answers: answersOf(answer) }) },
      { signal: io.signal },
    )
  },
  render: renderDecision,
}

/** Labels by their question; a label alone answers whatever is asked. */
function answersOf(given: readonly string[]): Record<string, string> {
  const pairs = given.map((text): [string, string] => {
    const at = text.indexOf('=')
    return at === -1 ? ['*', text] : [text.slice(0, at).trim(), text.slice(at + 1).trim()]
  })
  if (new Set(pairs.map(([question]) => question)).size < pairs.length)
    throw new AppError('invalid', 'a question is answered twice; write --answer question=label for each')
  return Object.fromEntries(pairs)
}
