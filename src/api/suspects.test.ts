import { expect, test } from 'vitest'
import { ids } from '../../test/support/temp-engine.ts'
import { shortId } from '../contract/short-id.ts'
import type { SessionState } from '../core/session/state.ts'
import { suspectsOf } from './suspects.ts'

type Given = {
  readonly at: number
  readonly folder?: string
  readonly endedMs?: number
  readonly isGrouped?: boolean
}

const home = '/home/ada/.local/state/muster'

/** Sessions, and processes that belong to nobody, each in one folder since some time. */
async function suspects(
  given: readonly Given[],
  lost: readonly { readonly pid: number; readonly in: string; readonly at: number }[],
  isWanted: (n: number) => boolean = () => true,
) {
  const all = given.map(({ at, folder = '/work', endedMs, isGrouped }) => ({
    sessionId: ids.session(),
    lifecycle: endedMs === undefined ? 'running' : 'killed',
    endedMs,
    managed: { workingDir: folder, startedAtMs: at, place: { pid: 5000 }, isGrouped },
  }))
  const numberOf = (id: string) => all.findIndex(({ sessionId }) => sessionId === id)
  const asked: unknown[] = []
  const deps = {
    engine: {
      sessions: () => all.filter(({ endedMs }) => endedMs === undefined).values(),
      endedSessions: () => all.filter(({ endedMs }) => endedMs !== undefined).values(),
    },
    processes: {
      async strays(what: { folders: readonly string[] }) {
        asked.push(what)
        return lost.flatMap(({ pid, in: folder, at }) => {
          const within = what.folders.filter((one) => one === folder.replace('SHORT', shortOf(all[0])))
          return within.length > 0 ? [{ pid, startedAtMs: at, folders: within }] : []
        })
      },
    },
    home,
    endedMs: async (id: string) => all[numberOf(id)]?.endedMs ?? null,
  } as unknown as Parameters<typeof suspectsOf>[0]
  const found = await suspectsOf(deps, (id) => isWanted(numberOf(id)), new AbortController().signal)
  return { found: found.map(({ sessionId, stray }) => [numberOf(sessionId), stray.pid]), asked }
}

const shortOf = (state: Pick<SessionState, 'sessionId'> | undefined) =>
  state ? shortId(state.sessionId) : ''

test('[MUS-363] a suspect began while a session ran that nothing else holds, and where it works', async () => {
  const { found } = await suspects(
    [{ at: 100_000, endedMs: 200_000 }],
    [
      { pid: 1, in: '/work', at: 90_000 },
      { pid: 2, in: '/work', at: 150_000 },
      { pid: 3, in: '/work', at: 250_000 },
      { pid: 4, in: '/other', at: 150_000 },
      { pid: 5, in: `${home}/sessions/SHORT`, at: 150_000 },
    ],
  )
  expect(found).toEqual([
    [0, 2],
    [0, 5],
  ])
})

test('[MUS-363] of several sessions in one folder the last that fits is named, and only to who may see it', async () => {
  const sessions = [{ at: 100_000 }, { at: 200_000 }, { at: 300_000, endedMs: 310_000 }]
  const lost = [150_000, 250_000, 400_000].map((at, pid) => ({ pid, in: '/work', at }))
  expect((await suspects(sessions, lost)).found).toEqual([
    [0, 0],
    [1, 1],
    [1, 2],
  ])
  expect((await suspects(sessions, lost, (n) => n === 0)).found).toEqual([[0, 0]])
})

test('[MUS-363] with control groups nobody is suspected, and a home folder says nothing of whose a process is', async () => {
  const lost = [{ pid: 1, in: '/work', at: 150_000 }]
  const grouped = await suspects([{ at: 100_000, isGrouped: true }], lost)
  expect(grouped).toEqual({ found: [], asked: [] })
  const wide = [
    { pid: 1, in: '/home/ada', at: 150_000 },
    { pid: 2, in: '/', at: 150_000 },
  ]
  for (const folder of ['/home/ada', '/'])
    expect((await suspects([{ at: 100_000, folder }], wide)).found, folder).toEqual([])
})
