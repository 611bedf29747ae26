import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { interactiveCommands } from '../../src/cli/commands/interactive.ts'
import { rootHelp } from '../../src/cli/render/help.ts'
import type { Client } from '../../src/client/client.ts'
import { commandOutputs } from '../../src/contract/cli/outputs.ts'
import type { SessionView } from '../../src/contract/session-views.ts'
import { sessionView } from '../support/watch-views.ts'
import { runSm } from './run-sm.ts'
import { world } from './world.ts'

const { watch } = interactiveCommands

test('sm alone prints help where there is no terminal, and sm watch says what to use instead', async () => {
  expect(await runSm([])).toEqual({ code: 0, stdout: `${rootHelp()}\n`, stderr: '' })
  expect(await runSm(['watch'])).toEqual({
    code: 2,
    stdout: '',
    stderr: 'sm: sm watch needs a terminal; use sm all, or sm watch --json\n',
  })
})

test('[MUS-110] with --json it is one list per change, and nothing where nothing changed', async () => {
  let sessions: SessionView[] = [sessionView(1)]
  let ring = Promise.withResolvers<void>()
  const client: Partial<Client> = {
    health: async () => ({ seq: 1 }) as never,
    listSessions: async ({ open }) => ({ sessions: open ? sessions : [], next: null, hidden: 0 }),
    streamEvents: async function* (_input, { signal }) {
      signal.addEventListener('abort', () => ring.reject(signal.reason))
      while (true) {
        await ring.promise
        ring = Promise.withResolvers()
        yield { id: '', event: 'message', data: { type: 'session.state.changed', sessionId: '' } }
      }
    },
  }
  const { io } = world({ client, isJson: true })
  const lists = (watch as { run(input: object, given: typeof io): AsyncIterable<unknown> })
    .run({}, io)
    [Symbol.asyncIterator]()
  const first = await lists.next()
  expect(commandOutputs.watch.parse(first.value).sessions).toHaveLength(1)
  // Rung without a change, then with one: only the second is told.
  ring.resolve()
  for (let i = 0; i < 50; i++) await turn()
  sessions = [...sessions, sessionView(2)]
  ring.resolve()
  const second = await lists.next()
  expect(commandOutputs.watch.parse(second.value).sessions).toHaveLength(2)
  await lists.return?.()
})
