import { claudes, profiles } from '../profiles.ts'
import type { Scenario } from '../scenario.ts'
import { screens } from '../world.ts'

/** The provider refuses, or the program ends. */
export const failures: readonly Scenario[] = [
  {
    name: 'api-error',
    profiles,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(2500)
      agent.fail('API Error: 400 bad request')
      agent.wait(6000)
      agent.probe('failed')
      agent.wait(700_000)
      agent.probe('later')
      agent.prompt()
      agent.wait(2500)
      agent.probe('prompted-again')
    },
  },
  {
    name: 'api-error-with-closing-line',
    profiles: claudes,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(2500)
      agent.fail('API Error: 400 bad request')
      agent.tell({ kind: 'turn-end', background: 0 }, { source: 'transcript', agoMs: -10, isWitness: false })
      agent.wait(6000)
      agent.probe('failed')
    },
  },
  {
    name: 'limit-told',
    profiles,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(2500)
      const resetsAtMs = agent.now + 3_600_000
      agent.fail("You've hit your limit · resets 3pm", { resetsAtMs })
      agent.wait(60_000)
      agent.probe('limited')
      agent.becomes({ lifecycle: 'failed', activity: 'idle', waitingFor: 'none', health: 'ok' }, false)
      for (const { id, signal } of agent.sent)
        if (signal.kind === 'turn-failed') agent.truths.at(-1)?.witnesses.add(id)
      agent.shows(screens.calm)
      agent.wait(3_700_000)
      agent.probe('begun-anew')
      agent.prompt()
      agent.wait(3000)
      agent.probe('prompted-again')
    },
  },
  {
    name: 'limit-untold',
    profiles,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(2500)
      agent.fail("You've hit your limit", {})
      agent.wait(60_000)
      agent.probe('limited')
      agent.prompt()
      agent.wait(3000)
      agent.probe('prompted-again')
    },
  },
  {
    name: 'retries',
    profiles: claudes,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(2500)
      agent.retry(2)
      agent.wait(6000)
      agent.probe('second')
      agent.retry(6)
      agent.wait(60_000)
      agent.probe('sixth')
      agent.says('It works again.')
      agent.shows(screens.working)
      agent.wait(3500)
      agent.probe('over')
      agent.finish('The endpoint is there.')
      agent.wait(5000)
      agent.probe('ended')
    },
  },
  {
    name: 'retries-told',
    profiles: profiles.filter(({ cli }) => cli === 'codex' || cli === 'opencode'),
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(2500)
      agent.retry(2)
      agent.tell({ kind: 'retrying', attempt: 2, error: 'overloaded' }, { source: 'hook' })
      agent.wait(5000)
      agent.probe('second')
    },
  },
  {
    name: 'retries-then-fails',
    profiles: claudes,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(2500)
      agent.retry(10)
      agent.wait(30_000)
      agent.fail('API Error: 529 Overloaded')
      agent.wait(5000)
      agent.probe('failed')
    },
  },
  ...[{ code: 1 }, { code: 137 }, { signal: 'SIGKILL' }].map(
    (ending): Scenario => ({
      name: `crash-${ending.signal ?? ending.code}`,
      profiles: profiles.slice(0, 4),
      run: (agent) => {
        agent.start()
        agent.pass(250)
        agent.prompt()
        agent.wait(3000)
        agent.toolStart()
        agent.wait(3000)
        agent.crash(ending)
        agent.wait(5000)
        agent.probe('crashed')
      },
    }),
  ),
  {
    name: 'vanished',
    profiles,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(3000)
      agent.tool()
      agent.becomes({ lifecycle: 'error', health: 'gone' }, false)
      if (agent.profile.cli === 'claude') agent.tell({ kind: 'gone', reason: 'other' }, { source: 'hook' })
      agent.tell({ kind: 'exited' }, { source: 'process', agoMs: -100 })
      agent.pass(8000)
      agent.probe('no-pane')
    },
  },
  {
    name: 'quit',
    profiles,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(3000)
      agent.tool()
      agent.finish('The file is written.')
      agent.wait(10_000)
      agent.quit()
      agent.wait(4000)
      agent.probe('left')
    },
  },
  {
    name: 'exit-in-turn',
    profiles,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(3000)
      agent.toolStart()
      agent.wait(3000)
      agent.becomes({ lifecycle: 'error', health: 'gone' }, false)
      agent.shows(screens.blank)
      agent.tell({ kind: 'exited', code: 0 }, { source: 'process' })
      agent.wait(4000)
      agent.probe('left-in-the-middle')
    },
  },
  {
    name: 'restarted',
    profiles,
    run: (agent) => {
      agent.start()
      agent.pass(250)
      agent.prompt()
      agent.wait(3000)
      agent.crash({ code: 1 })
      agent.wait(20_000)
      agent.becomes({ lifecycle: 'idle', activity: 'idle', health: 'ok' })
      agent.shows(screens.calm)
      agent.tell({ kind: 'ready', reason: 'resume' }, { source: 'hook' })
      agent.wait(9000)
      agent.probe('resumed')
      agent.prompt()
      agent.wait(3000)
      agent.probe('works-again')
    },
  },
]
