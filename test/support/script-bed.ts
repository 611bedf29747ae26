import { nodeScripts } from '../../src/adapters/scripts/node-scripts.ts'
import { parseScript } from '../../src/adapters/scripts/parse-script.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { systemProcesses } from '../../src/adapters/system/processes.ts'
import type { Decision } from '../../src/contract/decision.ts'
import { type AgentEvent, isFact } from '../../src/contract/event.ts'
import { type ScriptMeta, scriptHash } from '../../src/contract/script.ts'
import { draftOf } from '../../src/engine/sessions/drafts.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { Procedure } from '../../src/ports/durable.ts'
import type { Work, WorkEnd } from '../../src/ports/workers.ts'
import { approvalTopic } from '../../src/workflow/ask-person.ts'
import { type ScriptInput, scriptProcedure } from '../../src/workflow/script/script-procedure.ts'
import type { DurableBed } from '../suites/durable.ts'
import { openBed } from './local-bed.ts'

export const scripts = nodeScripts({
  processes: systemProcesses(systemClock),
  parse: async (...given) => parseScript(...given),
  path: process.env['PATH'] ?? '',
  hasWalls: false,
})

export const meta: ScriptMeta = { name: 'a', description: 'what it does', phases: [] }

/** A run of this body, approved already unless it says otherwise. */
export function scriptInput(body: string, more: Partial<ScriptInput> = {}): ScriptInput {
  const source = {
    main: 'a.ts',
    files: {
      'a.ts': `export default async function ({ args, agent, parallel, pipeline, phase, checkpoint, approve, verify, budget, log }) {\n${body}\n}`,
    },
  }
  return {
    meta,
    source,
    unsafe: scriptHash(source),
    args: null,
    workspace: '/work',
    cli: 'own',
    limits: { concurrency: 4, agents: 100 },
    approvedBy: 'me',
    ...more,
  }
}

/** What an agent says; ten tokens each. */
export type Saying = (work: Work, signal: AbortSignal) => string | WorkEnd | Promise<string | WorkEnd>

/**
 * A runner of scripts whose agents answer by a function; an answer that is refused is asked for once more. `usd` tells
 * what was spent by then.
 */
export async function openScriptBed(
  say: Saying,
  usd: () => number | null = () => null,
  clock: Clock = systemClock,
) {
  const asked: Work[] = []
  let atOnce = 0
  const most = { atOnce: 0 }
  const procedures = () => [
    scriptProcedure({
      engine: { perform: async () => [] } as never,
      onBug: () => {},
      clock,
      scripts,
      prices: { knows: () => true },
      budgets: {
        over: async () => undefined,
        watch: () => ({ [Symbol.dispose]() {} }),
        used: async () => ({ tokens: 0, usd: usd() }),
      },
      async *events(sessionId, types) {
        for (const event of await bed.events())
          if (event.sessionId === sessionId && types.includes(event.type) && isFact(event)) yield event
      },
      workers: {
        async run(work, signal) {
          asked.push(work)
          atOnce += 1
          most.atOnce = Math.max(most.atOnce, atOnce)
          try {
            let said = await say(work, signal)
            const wrong = typeof said === 'string' ? work.refuse?.(said) : undefined
            if (wrong !== undefined) said = await say({ ...work, prompt: wrong }, signal)
            return typeof said === 'string'
              ? { status: 'completed', text: said, tokens: 10, durationMs: 1 }
              : said
          } finally {
            atOnce -= 1
          }
        },
      },
    }) as Procedure<never, unknown>,
  ]
  const bed: DurableBed = await openBed(procedures, clock)
  let place: Awaited<ReturnType<DurableBed['place']>> | undefined
  const run = async (input: ScriptInput) => {
    place ??= await bed.place()
    await bed.durable().start('script', { id: 'w', input, at: place })
    return ((await bed.durable().result('w')) as { result: unknown }).result
  }
  const types = async () => (await bed.events()).map(({ type }) => type)
  return { bed, asked, run, most, types }
}

/** Somebody who answers, and what became of it when an answer could not be given. */
type Person = Disposable & { readonly failed: Promise<void> }

/** Answers what a workflow asks a person, each question once, until it is told to stop. */
export function personAt(bed: DurableBed, decide: (action: string) => Decision): Person {
  const over = new AbortController()
  const look = async () => {
    const told = new Set<string>()
    while (!over.signal.aborted) {
      await systemClock.sleep(5, over.signal)
      const events = await bed.events()
      for (const event of events)
        if (event.type === 'approval.requested' && !told.has(event.payload.approvalId)) {
          told.add(event.payload.approvalId)
          if (!isAnswered(events, event.payload.approvalId)) await answer(bed, event, decide)
        }
    }
  }
  const failed = look()
  failed.catch(() => {})
  return { failed, [Symbol.dispose]: () => over.abort() }
}

const isAnswered = (events: readonly AgentEvent[], id: string) =>
  events.some(
    ({ type, payload }) =>
      type === 'approval.granted' && (payload as { approvalId: string }).approvalId === id,
  )

async function answer(
  bed: DurableBed,
  event: Extract<AgentEvent, { type: 'approval.requested' }>,
  decide: (action: string) => Decision,
): Promise<void> {
  const { approvalId, subject, action } = event.payload
  const { sessionId, traceId, runId, spanId, workflowId = 'w' } = event
  const value = decide(typeof action === 'string' ? action : '')
  const place = { sessionId, traceId, runId, spanId, actor: 'anna' }
  const decided = { approvalId, subject, by: 'anna', latencyMs: 0 }
  const fact =
    value.verdict === 'allow'
      ? draftOf(place, 'approval.granted', { ...decided, scope: 'once' })
      : draftOf(place, 'approval.rejected', decided)
  await bed.durable().signal(workflowId, { topic: approvalTopic(approvalId), value, facts: [fact] })
}
