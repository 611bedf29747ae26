import { asking, profiles } from '../profiles.ts'
import type { Scenario } from '../scenario.ts'
import { screens } from '../world.ts'

/** Turns that go as they should, and their length. */
export const turns: readonly Scenario[] = [
  {
    name: 'start',
    profiles,
    run: (agent) => {
      agent.config = { startedAt: 0 }
      agent.becomes({ lifecycle: 'starting', health: 'ok' })
      agent.pass(400)
      agent.probe('launching')
      agent.start()
      agent.becomes({ lifecycle: 'idle', activity: 'idle', health: 'ok' })
      agent.truths.at(-1)?.witnesses.add(agent.sent.length - 1)
      agent.wait(9000)
      agent.probe('no-prompt')
    },
  },
  {
    name: 'dead-start',
    profiles: asking,
    run: (agent) => {
      agent.config = { startedAt: 0 }
      agent.becomes({ lifecycle: 'starting', health: 'stuck' })
      agent.shows(screens.blank)
      agent.wait(90_000)
      agent.probe('blank')
    },
  },
  {
    name: 'turn',
    profiles,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(2500)
      agent.probe('thinking')
      agent.says('I look at the code first.')
      agent.pass(60)
      const call = agent.toolStart()
      agent.wait(5000)
      agent.probe('tool')
      agent.toolEnd(call)
      agent.wait(4000)
      agent.probe('after-tool')
      agent.tool(8000)
      agent.finish('The handler is registered in `src/server.ts`.')
      agent.wait(6000)
      agent.probe('just-ended')
      agent.wait(120_000)
      agent.probe('ended')
      agent.prompt()
      agent.wait(3000)
      agent.probe('second-prompt')
    },
  },
  {
    name: 'long-tool',
    profiles,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(2000)
      agent.toolStart()
      agent.wait(480_000)
      agent.probe('eight-minutes')
      agent.wait(1_200_000)
      agent.probe('half-an-hour')
    },
  },
  {
    name: 'long-tool-unwatched',
    profiles,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.pass(2000)
      agent.toolStart()
      agent.pass(420_000)
      agent.probe('seven-minutes')
    },
  },
  {
    name: 'long-thought',
    profiles,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(400_000)
      agent.probe('seven-minutes')
      agent.wait(300_000)
      agent.probe('twelve-minutes')
      agent.becomes({ lifecycle: 'running', health: 'stuck' })
      agent.wait(900_000)
      agent.probe('hangs')
    },
  },
  {
    name: 'busy-silent-screen',
    profiles,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.pass(1500)
      agent.tool(2000)
      agent.shows(screens.blank)
      agent.says('Next file.')
      agent.pass(80)
      agent.toolStart({ file: 'a.ts' }, 'Read')
      agent.wait(3000)
      agent.probe('scrolled')
    },
  },
  {
    name: 'typing',
    profiles,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(3000)
      agent.tool(2000)
      agent.finish('The report is in `report.md`.')
      agent.wait(20_000)
      agent.shows(screens.draft)
      agent.wait(15_000)
      agent.probe('draft')
    },
  },
  {
    name: 'queued',
    profiles: profiles.filter(({ cli }) => cli === 'claude'),
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(2000)
      agent.toolStart()
      agent.wait(2000)
      agent.tell({ kind: 'prompt-queued', text: 'and the docs' }, { source: 'transcript' })
      agent.wait(2500)
      agent.probe('in-queue')
      agent.finish('The endpoint is there.')
      agent.pass(60)
      agent.prompt()
      agent.wait(6000)
      agent.probe('dequeued')
      agent.finish('The docs are there too.')
      agent.wait(8000)
      agent.probe('both-ended')
    },
  },
  {
    name: 'stop-hook-goes-on',
    profiles,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(3000)
      agent.tool(2000)
      agent.finish('All tests pass.')
      agent.pass(200)
      agent.toolStart({ command: 'npm run lint' })
      agent.wait(4000)
      agent.probe('made-to-go-on')
    },
  },
]
