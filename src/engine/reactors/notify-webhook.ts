import type { Config } from '../../contract/config.ts'
import { shortId } from '../../contract/ids.ts'
import { noticeOf, noticeTypes } from '../../core/session/notice.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Notice, Notifier } from '../../ports/notifier.ts'
import type { Engine } from '../engine.ts'
import type { Reactor } from '../react.ts'

type Deps = {
  readonly engine: Pick<Engine, 'known'>
  readonly clock: Clock
  readonly config: () => Config
  /** Nothing when no address is set. */
  readonly notifier: Notifier | undefined
}

const firstMs = 1000
const longestMs = 300_000

/**
 * Sends what becomes of sessions to an address of the user's: each change once and in order, again and again until it
 * is taken. Its cursor is the queue, so a daemon that is killed goes on where it was; nobody else waits for it.
 */
export const notifyWebhook = ({ engine, clock, config, notifier }: Deps): Reactor => ({
  name: 'notify-webhook',
  types: noticeTypes,
  startsAtEnd: true,
  saved: 'each',
  async react(event, signal) {
    const { notifications } = config().child_agents
    const told = notifier && noticeOf(event, notifications)
    if (!notifier || !told) return
    const state = await engine.known(event.sessionId)
    if (state?.managed?.origin !== 'managed') return
    const { friendlyName, name } = state.managed
    const notice: Notice = {
      id: event.id,
      event: told.event,
      session_id: shortId(event.sessionId),
      name: friendlyName ?? name,
      parent_session_id: state.parentSessionId ? shortId(state.parentSessionId) : null,
      message: told.text,
      timestamp: event.timestamp,
      seq: event.seq,
    }
    for (let attempt = 1; ; attempt++) {
      const answer = await notifier.send(notice, signal)
      if (answer.kind === 'taken') return
      if (answer.kind === 'refused' || attempt >= notifications.webhook.attempts)
        throw new Error(`the webhook did not accept ${event.id} (attempt ${attempt}): ${answer.why}`)
      const waitMs = Math.min(longestMs, answer.afterMs ?? firstMs * 2 ** (attempt - 1))
      await clock.sleep(waitMs, signal)
    }
  },
})
