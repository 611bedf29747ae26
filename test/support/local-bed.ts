import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { openVault } from '../../src/adapters/vault/file-vault.ts'
import { type AgentEvent, isFact } from '../../src/contract/event.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { draftOf } from '../../src/engine/sessions/drafts.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { Procedure } from '../../src/ports/durable.ts'
import { LocalDurable } from '../../src/workflow/local/local-durable.ts'
import type { FlowRecord } from '../../src/workflow/local/recorded-flow.ts'
import type { DurableBed, OpenBed, World } from '../suites/durable.ts'
import { ids, openEngine } from './temp-engine.ts'
import { tempFolder } from './temp-journal.ts'

/** A durable store on a real journal and vault, which can be killed at any write. */
export const openLocalBed: OpenBed = (procedures) => openBed(procedures, systemClock)

/** The same, whose waits take next to no time. */
export const openQuickBed: OpenBed = (procedures) =>
  openBed(procedures, { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms / 2000, signal) })

/** The same, on a clock of the test's own. */
export async function openBed(procedures: Parameters<OpenBed>[0], clock: Clock): Promise<DurableBed> {
  const folder = tempFolder('flow-')
  const world: World = { done: [] }
  let leftWrites = Infinity
  let cost = 0
  const store = async (known: readonly Procedure<never, unknown>[]) => {
    const { journal, engine } = await openEngine(join(folder, 'journal'))
    const vault = await openVault(join(folder, 'vault'), join(folder, 'key'))
    const events = async (): Promise<AgentEvent[]> =>
      (await journal.page(0, 100_000)).map(({ event }) => event)
    let isGone = false
    const perform: Engine['perform'] = (drafts, guard) => {
      leftWrites -= 1
      cost += drafts.length
      if (isGone || leftWrites < 0) return gone()
      return engine.perform(drafts, guard)
    }
    const gone = () => Promise.reject(new Error('the process is gone'))
    const failing = new Proxy(engine, {
      get: (of, name) => {
        if (name === 'perform') return perform
        const found = Reflect.get(of, name, of) as unknown
        return typeof found === 'function' ? found.bind(of) : found
      },
    })
    const durable = new LocalDurable({
      engine: failing,
      vault: {
        ...vault,
        put(...given) {
          cost += 1
          return isGone || leftWrites < 0 ? gone() : vault.put(...given)
        },
        get(name) {
          cost += 1
          return vault.get(name)
        },
      },
      clock,
      procedures: new Map(known.map((one) => [one.name, one])),
      async *events(sessionId, types) {
        for (const event of await events()) {
          cost += 1
          if (event.sessionId === sessionId && types.includes(event.type) && isFact(event)) yield event
        }
      },
      records: async (id) =>
        recordsOf(await events()).filter((record) => id === undefined || record.id === id),
      onBug: () => {},
    })
    const close = async () => {
      if (isGone) return
      isGone = true
      await vault.close()
      await journal.close()
    }
    onTestFinished(close)
    return { engine, durable, events, close }
  }
  let now = await store(procedures(world))
  return {
    durable: () => now.durable,
    events: () => now.events(),
    async place() {
      const at = {
        sessionId: ids.session(),
        traceId: ids.trace(),
        runId: ids.run(),
        spanId: ids.span(),
        actor: 'test',
      }
      await now.engine.perform([draftOf(at, 'session.started', { origin: 'workflow' })])
      return at
    },
    async crash({ procedures: others } = {}) {
      await now.close()
      leftWrites = Infinity
      now = await store(others ?? procedures(world))
      await now.durable.takeUp()
    },
    failFrom(n) {
      leftWrites = n - 1
    },
    cost: () => cost,
    world,
  }
}

const ended: Record<string, FlowRecord['status']> = {
  'workflow.finalized': 'completed',
  'workflow.failed': 'failed',
  'workflow.cancelled': 'cancelled',
}

function recordsOf(events: readonly AgentEvent[]): FlowRecord[] {
  const found = new Map<string, FlowRecord>()
  for (const event of events) {
    const { workflowId: id = '', sessionId } = event
    const known = found.get(id)
    if (event.type === 'workflow.started') {
      const { name = '', version = '', inputDigest = '' } = event.payload
      found.set(id, { id, name, version, sessionId, status: 'running', inputDigest })
    } else if (known && ended[event.type]) found.set(id, { ...known, status: ended[event.type] ?? 'failed' })
  }
  return [...found.values()]
}
