import type { Client } from '../../client/client.ts'
import type { CommandOutput } from '../../contract/cli/outputs.ts'
import { type TraceSlice, traceSlices } from '../../contract/cli/trace-commands.ts'
import { AppError } from '../../contract/errors.ts'
import type { AgentEvent } from '../../contract/event.ts'
import type { TracePage, TraceRows } from '../../core/trace/trace-rows.ts'
import { defineCommands } from '../command-module.ts'
import { sessionMeant } from '../current-session.ts'
import type { Io } from '../io.ts'
import { renderTrace } from '../render/trace-tree.ts'

const pageRows = 5000
/** Events that come together are drawn once. */
const gatherMs = 200

type Page = CommandOutput<'trace'>

/** What a session did: its trace, whole or as it grows. */
export const traceCommands = defineCommands({
  trace: {
    run: async function* ({ session, follow, slice }, io) {
      parseSlices(slice)
      const named = sessionMeant(session, io)
      const client = await (await io.daemon()).client()
      // What is written while pages are read is told by the stream from here on.
      const { seq } = await client.health({}, { signal: io.signal })
      // What reads events loads all schemas of events.
      const { TraceRows } = await import('../../core/trace/trace-rows.ts')
      const trace = new WholeTrace(new TraceRows())
      for await (const page of pages(client, named, io)) {
        trace.page(page)
        if (io.isJson) yield page
      }
      if (!io.isJson) yield trace.page()
      if (follow && !trace.isOver()) yield* trace.follow(client, seq, io)
    },
    render: (page, view, { slice, depth, critical }) =>
      renderTrace(page, view, { slices: parseSlices(slice), depth, critical }),
    isRedrawn: ({ follow }) => follow,
  },
})

/** What is asked for by `--slice by=word`. */
export type Slices = Readonly<Partial<Record<TraceSlice, readonly string[]>>>

function parseSlices(words: readonly string[]): Slices {
  const slices: Partial<Record<TraceSlice, string[]>> = {}
  for (const word of words) {
    const [by = '', ...rest] = word.split('=')
    const wanted = rest.join('=')
    const known = traceSlices.find((one) => one === by)
    if (known === undefined || wanted === '')
      throw new AppError(
        'invalid',
        `--slice takes ${traceSlices.map((one) => `${one}=…`).join(', ')}, not '${word}'`,
      )
    slices[known] = [...(slices[known] ?? []), wanted]
  }
  return slices
}

async function* pages(client: Client, id: string, { signal }: Io): AsyncGenerator<Page> {
  for (let after = 0; ; ) {
    const page = await client.listTrace({ id, after, limit: pageRows }, { signal })
    yield page
    if (page.next === null) return
    after = page.next
  }
}

const ending = /^(session|agent)\.(completed|failed|cancelled|killed|abandoned)$/

/** All that is known of a trace, and what the stream adds to it. */
class WholeTrace {
  readonly #rows: TraceRows
  readonly #parents = new Map<string, Page['sessions'][number]>()
  #head: Pick<Page, 'runId' | 'seq'> = { runId: null, seq: 0 }

  constructor(rows: TraceRows) {
    this.#rows = rows
  }

  /** Takes a page; answers everything that was taken so far as one. */
  page(page?: Page): Page {
    if (page !== undefined) {
      for (const one of page.sessions) this.#parents.set(one.sessionId, one)
      this.#rows.page(page)
      this.#head = { runId: page.runId, seq: page.seq }
      return page
    }
    this.#rows.takeChanges()
    return this.#answer({ spans: this.#rows.spans(), marks: this.#rows.marks() })
  }

  /** Whether the session that is shown has ended. */
  isOver(): boolean {
    const [top] = this.#parents.keys()
    const { runId } = this.#head
    const spans = this.#rows.spans()
    const own = spans.filter((span) =>
      runId === null
        ? span.kind === 'session' && span.sessionId === top
        : span.kind === 'agent' && span.runId === runId,
    )
    return own.length > 0 && own.every(({ endType }) => endType !== null)
  }

  async *follow(client: Client, after: number, io: Io): AsyncGenerator<Page> {
    const onRetry = (error: Error) => io.say(`${error.message}; trying again`)
    let drawnMs = io.now()
    let isNew = false
    for await (const { event, data } of client.streamEvents(
      { after: String(after) },
      { signal: io.signal, onRetry },
    )) {
      if (event === 'resync') {
        io.say('fell too far behind: something is missing here; run sm trace again')
        continue
      }
      isNew = this.#take(data as AgentEvent) || isNew
      // Looking through all spans is dear; only what can end a session or an agent is worth it.
      const isOver = ending.test(String((data as AgentEvent).type)) && this.isOver()
      if (!isNew || (io.now() - drawnMs < gatherMs && !isOver)) continue
      yield io.isJson
        ? this.#answer(this.#rows.takeChanges())
        : this.#answer({ spans: this.#rows.spans(), marks: this.#rows.marks() })
      if (isOver) return
      drawnMs = io.now()
      isNew = false
    }
  }

  #take(event: AgentEvent): boolean {
    const { sessionId, type } = event
    if (type === 'session.started' && !this.#parents.has(sessionId)) {
      const parentId = event.payload.parentSessionId ?? null
      if (parentId !== null && this.#parents.has(parentId))
        this.#parents.set(sessionId, { sessionId, parentId })
    }
    // What was erased may be of any session.
    if (!this.#parents.has(sessionId) && type !== 'journal.erased') return false
    this.#rows.event(event)
    return true
  }

  #answer(rows: Pick<TracePage, 'spans' | 'marks'>): Page {
    return {
      ...this.#head,
      sessions: [...this.#parents.values()],
      spans: [...rows.spans],
      marks: [...rows.marks],
      next: null,
    }
  }
}
