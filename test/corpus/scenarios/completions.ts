import type { Agent } from '../agent.ts'
import { profiles } from '../profiles.ts'
import type { Scenario } from '../scenario.ts'
import { texts } from '../texts.ts'

const claude = profiles.slice(0, 1)

/** One turn with a tool, ended by a text. */
function work(agent: Agent, text: string): void {
  agent.start()
  agent.pass(250)
  agent.prompt()
  agent.wait(3000)
  agent.tool()
  agent.finish(text)
}

/** Each text is a family of its own, spoken by one CLI. */
const spoken = (kind: keyof typeof texts, run: (agent: Agent, text: string) => void): readonly Scenario[] =>
  Object.entries(texts[kind]).map(([name, text], index) => ({
    name: `${kind}-${name}`,
    profiles: [profiles[index % profiles.length] ?? profiles[0]].filter((one) => one !== undefined),
    run: (agent) => run(agent, text),
  }))

const quarter = 900_000

export const completions: readonly Scenario[] = [
  ...spoken('said', (agent, text) => {
    work(agent, text)
    agent.isComplete()
    agent.wait(10_000)
    agent.probe('soon')
    agent.wait(quarter)
    agent.probe('later')
  }),
  ...spoken('reported', (agent, text) => {
    work(agent, text)
    agent.wait(10_000)
    agent.probe('soon')
    agent.isComplete()
    agent.wait(quarter)
    agent.probe('later')
  }),
  ...spoken('open', (agent, text) => {
    work(agent, text)
    agent.wait(10_000)
    agent.probe('soon')
    agent.wait(quarter)
    agent.probe('later')
  }),
  {
    name: 'claim-in-the-middle',
    profiles,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(3000)
      agent.says('Done. All tests pass.')
      agent.pass(60)
      agent.toolStart({ command: 'git commit' })
      agent.wait(4000)
      agent.probe('still-working')
    },
  },
  {
    name: 'claim-then-interrupted',
    profiles,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(3000)
      agent.tool()
      agent.says('The task is done. Now I delete the')
      agent.pass(10)
      agent.interrupt(true)
      agent.wait(quarter)
      agent.probe('later')
    },
  },
  {
    name: 'claim-of-the-turn-before',
    profiles,
    run: (agent) => {
      work(agent, 'Done. All tests pass.')
      agent.wait(5000)
      agent.prompt()
      agent.wait(4000)
      agent.probe('works-again')
      agent.interrupt(false)
      agent.wait(quarter)
      agent.probe('stopped-at-once')
    },
  },
  {
    name: 'claim-with-children',
    profiles: claude,
    run: (agent) => {
      agent.config = { children: 2 }
      work(agent, 'Done. Both engineers are at work.')
      agent.wait(quarter)
      agent.probe('later')
    },
  },
  {
    name: 'claim-in-manual-mode',
    profiles: claude,
    run: (agent) => {
      agent.config = { mode: 'manual' }
      work(agent, 'Done. All tests pass.')
      agent.wait(quarter)
      agent.probe('later')
    },
  },
  {
    name: 'claim-in-supervised-mode',
    profiles: claude,
    run: (agent) => {
      agent.config = { mode: 'supervised' }
      work(agent, 'Done. All tests pass.')
      agent.isComplete()
      agent.wait(10_000)
      agent.probe('soon')
    },
  },
  {
    name: 'claim-with-phrases-off',
    profiles: claude,
    run: (agent) => {
      agent.config = { detectPhrases: false }
      work(agent, 'Done. All tests pass.')
      agent.wait(10_000)
      agent.probe('soon')
      agent.isComplete()
      agent.wait(quarter)
      agent.probe('later')
    },
  },
  {
    name: 'claim-in-own-words',
    profiles: claude,
    run: (agent) => {
      agent.config = { patterns: ['fertig', 'ship it'] }
      work(agent, 'Alles ist fertig.')
      agent.isComplete()
      agent.wait(10_000)
      agent.probe('soon')
    },
  },
  {
    name: 'milestone-and-silence',
    profiles: claude,
    run: (agent) => {
      agent.config = { milestone: 'All tasks complete (5/5)' }
      work(agent, 'See the checkpoint.')
      agent.isComplete()
      agent.wait(quarter)
      agent.probe('later')
    },
  },
  {
    name: 'nothing-was-asked',
    profiles,
    run: (agent) => {
      agent.start()
      agent.wait(6000)
      agent.becomes({ lifecycle: 'idle', activity: 'idle', health: 'ok' })
      agent.wait(quarter)
      agent.probe('idle-for-long')
    },
  },
  {
    name: 'short-timeout',
    profiles: claude,
    run: (agent) => {
      agent.config = { idleTimeoutSeconds: 60 }
      work(agent, 'Wrote the report to `report.md`.')
      agent.wait(30_000)
      agent.probe('half-a-minute')
      agent.isComplete()
      agent.wait(45_000)
      agent.probe('over-a-minute')
    },
  },
]
