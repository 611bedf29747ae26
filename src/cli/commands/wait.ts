import { errorCodes } from '../../contract/errors.ts'
import type { DataCommand } from '../command-module.ts'
import { isEnded, renderEnd } from '../render/session-line.ts'
import { untilReached } from '../until-reached.ts'

export const wait: DataCommand<'wait'> = {
  run: async function* ({ sessions, for: goal = 'complete', timeout, any }, io) {
    const client = await (await io.daemon()).client()
    const timeoutMs = timeout === undefined ? undefined : timeout * 1000
    yield* untilReached(client, { sessions, goal, isAny: any, timeoutMs }, io)
  },
  render: renderEnd,
  exitCode: (session) => (isEnded(session) && session.status !== 'completed' ? errorCodes.failed.exit : 0),
}
