import { expect, test } from 'vitest'
import { AppError } from '../../contract/errors.ts'
import { type SessionId, shortId } from '../../contract/ids.ts'
import type { PaneInfo } from '../../ports/terminal.ts'
import type { Parts } from './session-parts.ts'
import { sweep } from './sweep.ts'

test('[MUS-283] a terminal whose session cannot be looked up now is left as it is, and the others are swept', async () => {
  const [unknown, stray] = ['ses_unknown', 'ses_stray'] as SessionId[]
  const pane = (owner: string, pid: number) => ({ owner, pid, isDead: false }) as PaneInfo
  const ended: string[] = []
  const removed: string[] = []
  const kept: string[][] = []
  const bugs: string[] = []
  const parts = {
    engine: {
      async known(id: string) {
        if (id === unknown) throw new AppError('unavailable', 'the index is still catching up')
        return undefined
      },
    },
    grants: {
      keep: async (ids: Set<string>) => void kept.push([...ids]),
      revoke: async () => {},
    },
    folders: {
      list: async () => [shortId(unknown as SessionId), shortId(stray as SessionId)],
      remove: async (name: string) => void removed.push(name),
    },
    processes: {
      closeGroup: async () => {},
      carrying: async () =>
        [unknown, stray].map((id) => ({ values: { MUSTER_HOME: '/h', MUSTER_SESSION: id } })),
      endTree: async ({ mark }: { mark: { value: string } }) => {
        ended.push(mark.value)
        return []
      },
    },
    terminal: { close: async () => {} },
    surroundings: { home: '/h' },
    onBug: (error: unknown, where: string) => bugs.push(`${where}: ${String(error)}`),
  } as unknown as Parts
  const following = { ids: () => new Set<SessionId>(), follow: () => {} }
  const panes = [pane('ses_unknown', 1), pane('ses_stray', 2)]
  const endStrays = await sweep(parts, { panes, following }, new AbortController().signal)
  await endStrays()
  expect(ended).toEqual([stray])
  expect(new Set(removed)).toEqual(new Set([shortId(stray as SessionId)]))
  expect(kept).toEqual([[unknown]])
  expect(bugs).toEqual(['what is known of ses_unknown: AppError: the index is still catching up'])
})
