import type { SessionHost } from './session-host.ts'

const atOnce = 8

/** Ends every session that runs, children before their parents; answers how many there were. */
export async function killAll(host: SessionHost): Promise<number> {
  const sessions = host.current()
  if (!sessions) return 0
  const all = [...sessions.all()].toSorted(
    (a, b) => (b.watch.state()?.depth ?? 0) - (a.watch.state()?.depth ?? 0),
  )
  const how = { force: false, reason: 'sm down --sessions', by: 'operator' }
  for (let i = 0; i < all.length; i += atOnce)
    await Promise.all(
      all.slice(i, i + atOnce).map(async (live) => {
        const { done } = await sessions.kill(live, how)
        return done
      }),
    )
  return all.length
}
