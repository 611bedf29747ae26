import { claudes, profiles } from '../profiles.ts'
import type { Scenario } from '../scenario.ts'
import { screens } from '../world.ts'

/** A person presses Escape, at every moment at which that can be. */
export const interrupts: readonly Scenario[] = [
  {
    name: 'escape-in-text',
    profiles,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(5000)
      agent.says('The first part is done. Now the')
      agent.pass(15)
      agent.interrupt(true)
      agent.wait(9000)
      agent.probe('soon')
      agent.wait(700_000)
      agent.probe('later')
      agent.prompt()
      agent.wait(3000)
      agent.probe('prompted-again')
    },
  },
  {
    name: 'escape-in-tool',
    profiles,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(3000)
      agent.toolStart()
      agent.wait(20_000)
      agent.interrupt(true)
      agent.wait(9000)
      agent.probe('soon')
    },
  },
  {
    name: 'escape-before-output',
    profiles,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(2000)
      agent.interrupt(false, screens.draft)
      agent.wait(9000)
      agent.probe('soon')
      agent.wait(240_000)
      agent.probe('later')
    },
  },
  {
    name: 'escape-before-output-no-status-file',
    profiles: claudes,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(3000)
      agent.becomes({ lifecycle: 'idle', activity: 'idle', waitingFor: 'none', health: 'ok' })
      agent.shows(screens.draft)
      agent.wait(9000)
      agent.probe('screen-only')
    },
  },
  {
    name: 'escape-in-retry',
    profiles: claudes,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(2000)
      agent.retry(3)
      agent.wait(5000)
      agent.interrupt(false, screens.draft)
      agent.wait(9000)
      agent.probe('soon')
    },
  },
  {
    name: 'escape-then-queued',
    profiles: claudes,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(2000)
      agent.tell(
        { kind: 'prompt-queued', text: 'queued message' },
        { source: 'transcript', isWitness: false },
      )
      agent.wait(600)
      agent.says('slowly streaming some text')
      agent.interrupt(true)
      agent.pass(70)
      agent.prompt()
      agent.wait(2500)
      agent.probe('goes-on')
    },
  },
]
