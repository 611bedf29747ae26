import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { AppError } from '../../contract/errors.ts'
import type { Commands, Connection } from './connection.ts'
import { unknownOutcome } from './control-client.ts'
import { openPane } from './open-pane.ts'
import type { PaneRow } from './pane-list.ts'

const made = { mark: 'mine', server: 'one', session: '$4', pane: '%4', pid: 77 } as PaneRow
const link = {} as Parameters<Commands['commands']>[0]

/** Opens on a server whose first answer is a failure; tells what was asked of it after that. */
async function opening(failure: unknown, exists: boolean) {
  const folder = tempFolder()
  const later: string[] = []
  let isFirst = true
  const connection = {
    run: async ({ commands }: Commands) => {
      if (!isFirst) later.push(...commands(link))
      else {
        isFirst = false
        throw failure
      }
      return []
    },
  } as unknown as Connection
  const request = {
    name: 'eng-1',
    owner: 'one',
    workingDir: folder,
    env: {},
    argv: ['x'],
    folder,
    width: 80,
    height: 24,
  }
  const signal = new AbortController().signal
  const list = async () => (exists ? [{ ...made, mark: 'other' }, made] : [])
  const opened = await openPane(request, { connection, mark: 'mine', signal, list }).catch(
    (error: AppError) => error.code,
  )
  return { opened, later, scripts: readdirSync(folder).length }
}

const lost = new AppError('unavailable', 'the connection broke', { details: unknownOutcome })
const refused = new AppError('failed', 'tmux refused: no space for new pane')

test('[MUS-234] an open whose answer was lost is found again', async () => {
  expect(await opening(lost, true)).toEqual({ opened: made, later: [], scripts: 1 })
})

test('[MUS-234] an open that never reached the server is an error, without its script', async () => {
  expect(await opening(lost, false)).toEqual({ opened: 'unavailable', later: [], scripts: 0 })
})

test('[MUS-234] an open that failed half-way leaves no session and no script', async () => {
  const after = { opened: 'failed', later: ["kill-session -t '$4'"], scripts: 0 }
  expect(await opening(refused, true)).toEqual(after)
})
