import { expect, test } from 'vitest'
import { agentClis } from '../../src/contract/agent-clis.ts'
import { cliSessions, scripted } from '../support/cli-session.ts'
import { cliPath, missingCli, newestOfEach } from '../support/clis.ts'
import { commandsOf } from '../support/hermetic.ts'
import { eventually } from '../support/session-daemon.ts'

// How 2.1.197 of Claude Code ends a compaction is not known in time, nor always how pi does.
test.for(newestOfEach.filter(({ name }) => name !== 'pi'))(
  '[MUS-345][MUS-328] $name $version: a compaction is running as soon as it begins, idle after it, and its tokens are counted or named',
  async (cli, { skip }) => {
    const { name, version } = cli
    if (cliPath(name, version) === undefined) return skip(missingCli(cli))
    const m = await cliSessions(name, { version, config: 'child_agents: { mode: manual }\n' })
    const answered = () => m.model.requests().filter(({ usage }) => usage !== undefined)
    const { id, tmux_session } = await m.spawn(scripted([{ text: 'The notes are in notes.md.' }], 'Work.'))
    const rests = () =>
      eventually(
        async () => ({ ...(await m.client.getSession({ id })), count: answered().length }),
        ({ status, count }) => status === 'idle' && count > 0,
      )
    await rests()
    const before = answered().length
    const { seq } = await m.client.health({})
    const changes = async () =>
      (
        await m.client.listEvents({ after: seq, session: id, type: 'session.state.changed', limit: 100 })
      ).events.map(({ payload }) => payload as { to: string })
    await m.typeLine(tmux_session ?? '', commandsOf[name].compact)
    const [begun] = await eventually(changes, (found) => found.some(({ to }) => to === 'running'))
    expect(begun?.to).toBe('running')
    expect(JSON.stringify(begun)).toContain('compacting')
    const { tokens_used } = await rests()
    // Its end is known, and not only that nothing was heard for long.
    await eventually(
      () => m.client.listEvents({ after: seq, session: id, type: 'context.compacted', limit: 10 }),
      ({ events }) => events.length === 1,
    )
    expect((await changes()).map(({ to }) => to)).toEqual(['running', 'idle'])
    expect(answered().length).toBeGreaterThan(before)
    const { not_counted } = await m.client.getProgress({ id })
    const { compaction } = agentClis[name].untold
    const sum = answered().reduce(
      (all, { usage: u }) => all + (u ? u.input + u.output + u.cacheRead + u.cacheWrite : 0),
      0,
    )
    if (compaction !== undefined) {
      expect(not_counted).toContain(compaction)
      expect(tokens_used).toBeLessThan(sum)
    } else expect(not_counted ?? '').not.toContain('compaction')
  },
)
