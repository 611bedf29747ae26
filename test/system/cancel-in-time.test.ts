import { expect, onTestFinished, test } from 'vitest'
import type { WireEvent } from '../../src/contract/routes.ts'
import { call, script } from '../support/own-agents.ts'
import { expectOneEndEach, isAtRest, runEndsOf } from '../support/run-record.ts'
import { runtimeDaemon } from '../support/runtime-daemon.ts'
import { eventually } from '../support/session-daemon.ts'
import { sleeping } from '../support/sleeping.ts'
import { slowdown } from '../support/slowdown.ts'
import { watchedModel } from '../support/watched-model.ts'

/** On a quiet machine. */
const withinMs = 1000

test.each([
  ['that end when they are asked to', '31'],
  ['that do not listen', '32', "trap '' TERM INT HUP; "],
])(
  '[RUN-19, RUN-46, MUS-24] a cancel ends runs, processes %s and open requests within a second, each once',
  async (_, mark, deaf = '') => {
    const model = await watchedModel()
    onTestFinished(() => model.close())
    const m = await runtimeDaemon({ config: model.config })
    // No other process of this machine sleeps for so long.
    const seconds = `300.${process.pid}${mark}`
    const command = `${deaf}sleep ${seconds} & sleep ${seconds}; wait`
    const task = (prompt: string) => ({ name: 'Task', input: { subagent_type: 'finder', prompt } })
    const { session_id: first } = await m.say(
      script({ tools: [task(script(call('Bash', { command }))), task(script({ hang: true }))] }),
    )
    const { session_id: second } = await m.say(script({ hang: true }), { agent_id: 'maker' })
    const events = async (): Promise<WireEvent[]> => {
      const pages = [first, second].map((session) =>
        m.daemon.client.listEvents({ session: String(session), after: 0, limit: 1000 }),
      )
      return (await Promise.all(pages)).flatMap((page) => page.events)
    }
    await eventually(
      async () => ({ sleeping: sleeping(seconds).length, open: model.open().length }),
      ({ sleeping, open }) => sleeping === 2 && open === 2,
    )
    const mains = (await m.runs()).filter(({ agent_kind }) => agent_kind === 'main')
    expect(mains).toHaveLength(2)
    const hanging = model.open()

    const busyBefore = slowdown()
    const calledMs = Date.now()
    const gone = eventually(
      async () => sleeping(seconds),
      (left) => left.length === 0,
    ).then(() => Date.now())
    const answers = await Promise.all(mains.map(({ run_id }) => m.ask('/api/agent-cancel', { run_id })))
    const goneMs = await gone
    const boundMs = withinMs * Math.max(busyBefore, slowdown())
    const record = await eventually(events, isAtRest)

    const named = answers.flatMap(({ body }) => body['cancelled_run_ids'] as string[])
    const ends = runEndsOf(record)
    expect(ends.map(({ type }) => type)).toEqual(Array.from({ length: 4 }, () => 'agent.cancelled'))
    expect(ends.map(({ runId }) => String(runId)).toSorted()).toEqual(named.toSorted())
    expectOneEndEach(record)
    await eventually(
      async () => model.open(),
      (open) => open.length === 0,
    )
    expect(hanging.map(({ isWhole }) => isWhole)).toEqual([false, false])

    const took = {
      events: Math.max(...ends.map(({ timestamp }) => Date.parse(timestamp))) - calledMs,
      processes: goneMs - calledMs,
      requests: Math.max(...hanging.map(({ endedMs = Number.NaN }) => endedMs)) - calledMs,
    }
    for (const [what, ms] of Object.entries(took)) expect.soft(ms, what).toBeLessThanOrEqual(boundMs)
    // The daemon goes on to answer, and nothing that came late was written as a second end.
    for (const [session_id, agent_id] of [
      [first, 'boss'],
      [second, 'maker'],
    ])
      await m.say(script({ text: 'Still here.' }), { session_id, agent_id })
    const later = await eventually(events, (found) => isAtRest(found) && runEndsOf(found).length >= 6)
    expectOneEndEach(later)
    expect(later.filter(({ type }) => type === 'agent.completed')).toHaveLength(2)
  },
)
