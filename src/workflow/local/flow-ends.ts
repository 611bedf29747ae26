import { AppError } from '../../contract/errors.ts'
import type { Draft } from '../../contract/event.ts'
import type { Asker } from '../../contract/principal.ts'
import { hasEnded, spanKey } from '../../core/session/state.ts'
import type { Engine } from '../../engine/engine.ts'
import { askedBy, draftOf } from '../../engine/sessions/drafts.ts'
import { FlowStopped, NotApproved, type Procedure } from '../../ports/durable.ts'
import { type Running, rootOf } from './local-flow.ts'

type EndDeps = {
  readonly engine: Engine
  readonly procedures: ReadonlyMap<string, Procedure<never, unknown>>
  readonly onBug: (error: unknown, where: string) => void
}

/** Writes that a workflow came to its end, and whether what it gave is what was asked for. */
export async function finalized(deps: EndDeps, running: Running, result: unknown): Promise<void> {
  if (!isOpen(deps, running)) return
  const { id, book, name } = running
  const failure = deps.procedures.get(name)?.failure?.(result as never)
  const figures = {
    workflowId: id,
    totalTokens: book.counted.tokens,
    totalAgents: book.counted.agents,
    durationMs: tookMs(running),
    ...(result !== undefined && { result }),
  }
  const root = rootOf(running)
  await deps.engine.perform([
    failure
      ? draftOf(root, 'workflow.failed', {
          ...figures,
          outcome: failure.outcome,
          error: failure.reason,
          reason: lineOf(failure.reason),
        })
      : draftOf(root, 'workflow.finalized', figures),
  ])
}

/** Writes that it failed or was called off; what stops for the daemon has no end yet. */
export async function stopped(deps: EndDeps, running: Running, error: unknown): Promise<void> {
  if (error instanceof FlowStopped && error.how === 'daemon') return
  if (error instanceof FlowStopped) return cancelled(deps, running, { by: error.by, reason: error.message })
  if (!isOpen(deps, running)) return
  const { id, book } = running
  const text = error instanceof Error ? error.message : String(error)
  if (!(error instanceof AppError)) deps.onBug(error, `workflow ${id}`)
  const reason = lineOf(text)
  await closed(deps, running, {
    reason,
    end: draftOf(rootOf(running), 'workflow.failed', {
      workflowId: id,
      error: text,
      reason,
      ...(error instanceof NotApproved && { outcome: 'rejected' as const }),
      ...partialOf(error),
      totalTokens: book.counted.tokens,
      totalAgents: book.counted.agents,
      durationMs: tookMs(running),
    }),
  })
}

/** Writes that it was called off, unless it has its end. */
export async function cancelled(
  deps: EndDeps,
  running: Running,
  { by, reason }: { readonly by: Asker; readonly reason: string },
): Promise<void> {
  if (!isOpen(deps, running)) return
  await closed(deps, running, {
    reason,
    end: draftOf(askedBy(rootOf(running), by), 'workflow.cancelled', {
      workflowId: running.id,
      by: by.name,
      reason,
      durationMs: tookMs(running),
    }),
  })
}

/** Writes an end in one batch with what its procedure still has to say; without that when it cannot be said. */
async function closed(
  deps: EndDeps,
  running: Running,
  { end, reason }: { readonly end: Draft; readonly reason: string },
): Promise<void> {
  const write = async (facts: readonly Draft[]) => {
    // Two may be at its end: what is said last is said by the first.
    const stillOpen = () => {
      if (!isOpen(deps, running)) throw new Closed()
    }
    await deps.engine.perform([...facts, end], stillOpen).catch((error: unknown) => {
      if (!(error instanceof Closed)) throw error
    })
  }
  const { closing } = deps.procedures.get(running.name) ?? {}
  if (!closing) return write([])
  const { input } = running
  try {
    await closing({ root: rootOf(running), input: input as never }, reason, write)
  } catch (error) {
    // A full disk takes ends alone.
    deps.onBug(error, `the last words of ${running.id}`)
    await write([])
  }
}

class Closed extends Error {}

/** What a refusal says was done before it. */
function partialOf(error: unknown): { readonly partial?: unknown } {
  const details = error instanceof AppError ? (error.details as { partial?: unknown } | undefined) : undefined
  return details?.partial === undefined ? {} : { partial: details.partial }
}

const lineOf = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, 1000)

const tookMs = ({ startedMs, clock }: Running): number => Math.max(0, clock.now() - startedMs)

/** Its end may have been written from above: by the end of its session. */
function isOpen({ engine }: EndDeps, { at, spanId }: Running): boolean {
  const state = engine.session(at.sessionId)
  return state !== undefined && !hasEnded(state) && state.open.has(spanKey(state, { ...at, spanId }))
}
