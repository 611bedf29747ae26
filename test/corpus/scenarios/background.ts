import { claudes, profiles } from '../profiles.ts'
import type { Scenario } from '../scenario.ts'

const explore = { agentId: 'a1', agentType: 'Explore' } as const

/** Work that goes on when the turn has ended, and what its end looks like. */
export const background: readonly Scenario[] = [
  {
    name: 'background-agent',
    profiles: claudes,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(1500)
      agent.tell({ kind: 'subagent-start', ...explore }, { source: 'hook' })
      agent.finish('The agent was launched; all done on my side.', 1)
      agent.wait(2500)
      agent.probe('runs')
      const call = { callId: 'sub-1', tool: 'Bash' }
      agent.tell({ kind: 'tool-start', ...call, agent: 'a1' }, { source: 'hook' })
      agent.wait(50_000)
      agent.tell({ kind: 'tool-end', ...call, ok: true, agent: 'a1' }, { source: 'hook' })
      agent.wait(40_000)
      agent.probe('runs-on')
      agent.tell(
        { kind: 'subagent-end', ...explore, text: 'SUBRESULT' },
        { source: 'hook', isWitness: false },
      )
      agent.pass(60)
      agent.prompt('task')
      agent.wait(1500)
      agent.probe('notified')
      agent.finish('The agent found three callers.')
      agent.wait(5000)
      agent.probe('ended')
    },
  },
  {
    name: 'background-shell',
    profiles: claudes,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(1500)
      agent.tool(800)
      agent.finish('The server is started. Done.', 1)
      agent.wait(120_000)
      agent.probe('two-minutes')
      agent.becomes({ lifecycle: 'idle', activity: 'idle', waitingFor: 'background' }, false)
      for (const id of agent.ends) agent.truths.at(-1)?.witnesses.add(id)
      agent.wait(1_500_000)
      agent.probe('a-server-that-stays')
    },
  },
  {
    name: 'subagent-in-turn',
    profiles: profiles.filter(({ cli }) => cli === 'claude' || cli === 'codex'),
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(1500)
      const task = agent.toolStart({ prompt: 'look' }, 'Agent')
      agent.tell({ kind: 'subagent-start', ...explore }, { source: 'hook', isWitness: false })
      agent.wait(3000)
      agent.tell({ kind: 'text', text: 'Done.', agent: 'a1' }, { source: 'transcript', isWitness: false })
      agent.tell(
        { kind: 'turn-end', text: 'Done.', background: 0, agent: 'a1' },
        { source: 'hook', isWitness: false },
      )
      agent.wait(6000)
      agent.probe('subagent-says-done')
      agent.tell({ kind: 'subagent-end', ...explore }, { source: 'hook', isWitness: false })
      agent.toolEnd(task)
      agent.wait(4000)
      agent.probe('back')
    },
  },
  {
    name: 'late-subagent-end',
    profiles: claudes,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(3000)
      agent.tool(2000)
      agent.finish('The callers are listed in `callers.md`.')
      agent.pass(4000)
      agent.tell(
        { kind: 'subagent-end', agentId: 'unknown', agentType: '' },
        { source: 'hook', isWitness: false },
      )
      agent.wait(3000)
      agent.probe('orphan')
    },
  },
  {
    name: 'subagent-fails',
    profiles: claudes,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(3000)
      agent.toolStart({ prompt: 'look' }, 'Agent')
      agent.tell({ kind: 'subagent-start', ...explore }, { source: 'hook', isWitness: false })
      agent.wait(2500)
      agent.tell(
        { kind: 'turn-failed', error: 'API Error: 400', agent: 'a1' },
        { source: 'hook', isWitness: false },
      )
      agent.wait(2500)
      agent.probe('main-goes-on')
    },
  },
  {
    name: 'lost-subagent-end',
    profiles: claudes,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(3000)
      agent.tell({ kind: 'subagent-start', ...explore }, { source: 'hook', isWitness: false })
      agent.tell(
        { kind: 'tool-end', callId: 's1', ok: true, agent: 'a1' },
        { source: 'hook', isWitness: false },
      )
      agent.wait(8000)
      // It ended and nothing told so; the turn's end counts none that works.
      agent.finish('The search is over; see `notes.md`.')
      agent.wait(6000)
      agent.probe('none-counted')
    },
  },
]
