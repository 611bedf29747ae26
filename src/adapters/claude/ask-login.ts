import * as z from 'zod'
import type { LoginState } from '../../ports/agent-cli.ts'
import { type Asking, askProgram } from '../system/run-program.ts'

const Status = z.looseObject({ loggedIn: z.boolean(), authMethod: z.string().optional() })

/** Whether Claude Code can work, as it says itself; no file of its credentials is read. */
export async function askLogin(command: string, asking: Asking): Promise<LoginState> {
  const ran = await askProgram(command, ['auth', 'status', '--json'], asking)
  if (!ran) return { state: 'unknown', detail: `${command} could not be run` }
  const status = Status.safeParse(parsed(ran.stdout))
  if (!status.success)
    return { state: 'unknown', detail: `${command} auth status gave no answer that can be read` }
  const { loggedIn, authMethod = 'unknown' } = status.data
  return loggedIn
    ? { state: 'in', detail: `by ${authMethod}` }
    : { state: 'out', detail: `run \`${command}\` and type /login, or set ANTHROPIC_API_KEY` }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // An older version prints words, or asks for something.
    return undefined
  }
}
