import { expect, test } from 'vitest'
import { sessionCommands } from '../../src/cli/commands/sessions.ts'
import type { AppError } from '../../src/contract/errors.ts'
import { session } from './session-data.ts'
import { collect, world } from './world.ts'

const { kill } = sessionCommands

type How = { readonly confirms?: boolean; readonly force?: boolean }

async function killing(unsaved: string[], { confirms, force = false }: How) {
  let isKilled = false
  const client = {
    listUnsaved: async () => ({ sessions: [{ session: session('abc123'), unsaved }] }),
    killSession: async () => {
      isKilled = true
      return { killed: [session('abc123', { status: 'killed' })], left: [], suspects: [] }
    },
  }
  const { io, said } = world({ client, ...(confirms !== undefined && { confirms }) })
  const code = await collect(kill.run({ sessions: ['abc123'], force, reason: undefined }, io)).then(
    () => 'ended',
    (error: AppError) => error.code,
  )
  return { code, isAsked: said.includes('End it anyway?'), isKilled }
}

test('[SM-85] a person is asked when something is unsaved, and only then; --force and a script are not', async () => {
  const unsaved = ['an open turn']
  const asked = { isAsked: true, isKilled: true, code: 'ended' }
  const unasked = { isAsked: false, isKilled: true, code: 'ended' }
  expect(await killing(unsaved, { confirms: false })).toEqual({
    code: 'conflict',
    isAsked: true,
    isKilled: false,
  })
  expect(await killing(unsaved, { confirms: true })).toEqual(asked)
  expect(await killing(unsaved, { confirms: false, force: true })).toEqual(unasked)
  expect(await killing([], { confirms: false })).toEqual(unasked)
  expect(await killing(unsaved, {})).toEqual(unasked)
})

test('[MUS-363] a daemon from before an update, which tells of no suspects, ends sessions as well', async () => {
  const before = { killed: [session('abc123', { status: 'killed' })], left: [] }
  const listUnsaved = async () => ({ sessions: [] })
  const { io } = world({ client: { listUnsaved, killSession: async () => before } })
  const ended = await collect(kill.run({ sessions: ['abc123'], force: true, reason: undefined }, io))
  expect(ended).toMatchObject([{ killed: before.killed, suspects: [] }])
})
