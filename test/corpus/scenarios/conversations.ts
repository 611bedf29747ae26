import { claudes, profiles } from '../profiles.ts'
import type { Scenario } from '../scenario.ts'
import { screens } from '../world.ts'

/** The conversation changes under the session: compaction, a new one, the clock, a program inside. */
export const conversations: readonly Scenario[] = [
  {
    name: 'compacted-in-turn',
    profiles: claudes,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(3000)
      agent.tool()
      agent.wait(20_000)
      agent.tell({ kind: 'compacted', trigger: 'auto' }, { source: 'hook' })
      agent.tell({ kind: 'ready', reason: 'compact' }, { source: 'hook', agoMs: -50 })
      agent.tell({ kind: 'subagent-end', agentId: 'c1', agentType: '' }, { source: 'hook' })
      agent.wait(4000)
      agent.probe('goes-on')
    },
  },
  {
    name: 'compacted-when-idle',
    profiles: profiles.filter(({ cli }) => cli === 'claude' || cli === 'codex'),
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(3000)
      agent.tool()
      agent.finish('The notes are in `notes.md`.')
      agent.wait(10_000)
      agent.becomes({ lifecycle: 'running', activity: 'working' })
      agent.tell({ kind: 'compacting', trigger: 'manual' }, { source: 'hook' })
      agent.pass(400)
      agent.probe('begun')
      agent.shows(screens.working)
      agent.wait(6000)
      agent.probe('compacting')
      agent.becomes({ lifecycle: 'idle', activity: 'idle', waitingFor: 'none', health: 'ok' })
      agent.shows(screens.calm)
      agent.tell({ kind: 'compacted', trigger: 'manual' }, { source: 'hook' })
      agent.tell({ kind: 'ready', reason: 'compact' }, { source: 'hook', agoMs: -30, isWitness: false })
      agent.wait(9000)
      agent.probe('compacted')
    },
  },
  {
    name: 'cleared',
    profiles: claudes,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(3000)
      agent.tool()
      agent.finish('Done. All tests pass.')
      agent.wait(8000)
      agent.becomes({ lifecycle: 'idle', activity: 'idle', waitingFor: 'none', health: 'ok' })
      agent.tell({ kind: 'gone', reason: 'clear' }, { source: 'hook' })
      agent.pass(70)
      agent.tell({ kind: 'ready', reason: 'clear', foreignId: 'another' }, { source: 'hook' })
      agent.wait(7000)
      agent.probe('empty')
      agent.prompt()
      agent.wait(3000)
      agent.probe('works')
    },
  },
  {
    name: 'cleared-while-asked',
    profiles: claudes,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(3000)
      agent.ask()
      agent.wait(3000)
      agent.interrupt(true)
      agent.wait(3000)
      agent.becomes({ lifecycle: 'idle', activity: 'idle', waitingFor: 'none', health: 'ok' })
      agent.tell({ kind: 'gone', reason: 'clear' }, { source: 'hook' })
      agent.tell({ kind: 'ready', reason: 'clear', foreignId: 'another' }, { source: 'hook', agoMs: -60 })
      agent.wait(7000)
      agent.probe('empty')
    },
  },
  {
    name: 'nested-goodbye',
    profiles: claudes,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(3000)
      agent.toolStart({ command: 'claude -p hello' })
      agent.wait(4000)
      // A program that the tool ran says goodbye in the name of the session.
      agent.tell({ kind: 'gone', reason: 'other' }, { source: 'hook', isWitness: false })
      agent.wait(6000)
      agent.probe('lives')
    },
  },
  {
    name: 'slept',
    profiles,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(3000)
      agent.toolStart()
      agent.wait(4000)
      agent.pass(7_200_000)
      agent.config = { sleptUntil: agent.now }
      // The machine slept for two hours; nobody could have seen anything.
      agent.becomes({ lifecycle: 'running', health: 'stale' })
      for (const { id, signal } of agent.sent)
        if (signal.kind === 'tool-start') agent.truths.at(-1)?.witnesses.add(id)
      agent.pass(5000)
      agent.probe('just-awake')
      agent.becomes({ lifecycle: 'running', activity: 'calling_tool', health: 'ok' })
      agent.wait(8000)
      agent.probe('seen-again')
    },
  },
  {
    name: 'unseen',
    profiles,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.pass(240_000)
      agent.becomes({ lifecycle: 'running', health: 'stale' })
      for (const { id, signal } of agent.sent)
        if (signal.kind === 'prompt') agent.truths.at(-1)?.witnesses.add(id)
      agent.probe('four-minutes-of-silence')
      agent.pass(480_000)
      agent.becomes({ lifecycle: 'idle', health: 'stale' })
      for (const { id, signal } of agent.sent)
        if (signal.kind === 'prompt') agent.truths.at(-1)?.witnesses.add(id)
      agent.probe('twelve-minutes-of-silence')
    },
  },
]
