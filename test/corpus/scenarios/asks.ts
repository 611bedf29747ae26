import { asking, claudes } from '../profiles.ts'
import type { Scenario } from '../scenario.ts'
import { screens } from '../world.ts'

const startup = ['trust', 'login', 'bypass', 'notice'] as const

/** Everything that waits for a person. */
export const asks: readonly Scenario[] = [
  {
    name: 'permission',
    profiles: asking,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(2500)
      const call = agent.ask()
      agent.wait(4000)
      agent.probe('asked')
      agent.pass(1400)
      agent.nag()
      agent.wait(4000)
      agent.probe('nagged')
      agent.wait(900_000)
      agent.probe('quarter-of-an-hour')
      agent.toolEnd(call)
      agent.wait(4000)
      agent.probe('allowed')
      agent.finish('The file is made.')
      agent.wait(5000)
      agent.probe('ended')
    },
  },
  {
    name: 'permission-denied',
    profiles: asking,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(3000)
      agent.ask()
      agent.wait(3000)
      agent.interrupt(true)
      agent.wait(9000)
      agent.probe('escaped')
    },
  },
  {
    name: 'permission-refused-goes-on',
    profiles: asking,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(3000)
      const call = agent.ask()
      agent.wait(3000)
      agent.toolEnd(call, false)
      agent.wait(3500)
      agent.probe('refused')
    },
  },
  {
    name: 'long-tool-after-permission',
    profiles: asking,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(3000)
      agent.ask()
      agent.wait(5000)
      // Allowed: no hook tells that the tool now runs, only the screen.
      agent.becomes({ lifecycle: 'running', activity: 'calling_tool', waitingFor: 'none', health: 'ok' })
      agent.shows(screens.working)
      agent.wait(40_000)
      agent.probe('runs')
    },
  },
  {
    name: 'parallel-while-asked',
    profiles: asking,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(3000)
      const read = agent.toolStart({ file: 'a.ts' }, 'Read')
      agent.pass(30)
      agent.ask()
      agent.pass(200)
      agent.tell(
        { kind: 'tool-end', callId: read.callId, tool: 'Read', ok: true },
        { source: 'hook', isWitness: false },
      )
      agent.wait(6000)
      agent.probe('still-asked')
    },
  },
  {
    name: 'question',
    profiles: asking.filter(({ asksWithTool }) => asksWithTool),
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(2500)
      const call = agent.ask('question')
      agent.wait(7000)
      agent.probe('asked')
      agent.wait(400_000)
      agent.probe('seven-minutes')
      agent.toolEnd(call)
      agent.wait(3000)
      agent.probe('answered')
    },
  },
  {
    name: 'plan',
    profiles: claudes,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(20_000)
      const call = agent.ask('plan')
      agent.wait(7000)
      agent.probe('asked')
      agent.toolEnd(call)
      agent.wait(3000)
      agent.probe('approved')
      agent.tool()
      agent.finish('The plan is carried out.')
      agent.wait(4500)
      agent.probe('ended')
    },
  },
  {
    name: 'subagent-asks',
    profiles: claudes,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(2500)
      agent.tell({ kind: 'subagent-start', agentId: 'a1', agentType: 'Explore' }, { source: 'hook' })
      agent.finish('An agent looks into it.', 1)
      agent.wait(5000)
      agent.ask('permission', 'a1')
      agent.wait(6000)
      agent.probe('asked-in-background')
    },
  },
  ...startup.map(
    (kind): Scenario => ({
      name: `dialog-${kind}`,
      profiles: asking.slice(0, 3),
      run: (agent) => {
        agent.becomes({ lifecycle: 'waiting_input', waitingFor: 'dialog', health: 'ok' })
        agent.shows({
          ...screens.blank,
          dialog: { kind, title: 'Do you trust this folder?', options: ['No', 'Yes'] },
        })
        agent.wait(5000)
        agent.probe('shown')
      },
    }),
  ),
]
