import { expect, test } from 'vitest'
import { asker } from '../../test/support/asker.ts'
import { AppError } from '../contract/errors.ts'
import type { SessionState } from '../core/session/state.ts'
import { killAll } from './kill-sessions.ts'

test('[MUS-283] sm down --sessions ends all that can be ended, and then tells of the one that could not', async () => {
  const states = Array.from({ length: 20 }, (_, i) => ({
    sessionId: `ses_${i}`,
    lifecycle: 'running',
    managed: { origin: i < 10 ? 'workflow' : 'runtime' },
  })) as unknown as SessionState[]
  const ended: string[] = []
  const end = async ({ sessionId }: Readonly<SessionState>) => {
    if (sessionId === 'ses_0') throw new Error('it does not end')
    ended.push(sessionId)
  }
  const deps = {
    engine: {
      sessions: () => states.values(),
      session: (id: string) => states.find(({ sessionId }) => sessionId === id),
    },
    host: { open: () => Promise.reject(new AppError('unavailable', 'there is no tmux here')) },
    runtime: { end },
    workflows: { end },
  } as unknown as Parameters<typeof killAll>[0]
  await expect(killAll(deps, asker('operator'))).rejects.toThrow('it does not end')
  expect(ended).toHaveLength(19)
})
