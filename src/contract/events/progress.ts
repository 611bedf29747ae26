import * as z from 'zod'
import { event, quoted } from '../event-definition.ts'
import { Body, Count, JsonObject, Line, Millis } from '../values.ts'

/** What an agent tells of its work while it works. */
export const progressEvents = {
  'progress.checkpoint': event({
    about: 'An agent reported a milestone.',
    reporter: 'session',
    control: ['number', 'tokensAtCheckpoint', 'costUsd', 'transcriptOffset', 'branch', 'commit'],
    sse: ['AgentStatus'],
    std008: 'task_progress',
    sm: {
      words: ['checkpoint'],
      says: ({ payload: p }) => quoted(p.message),
      metadata: ({ payload: p }) => p.metadata ?? null,
    },
    title: ({ payload: p }) => [p.message],
    search: ({ payload: p }) => [p.message, p.metadata, p.commit],
    payload: z.strictObject({
      message: Body,
      /** Its place among the milestones of its session, from 1; given when it is written, whatever the sender says. */
      number: Count.optional(),
      metadata: JsonObject.optional(),
      progressPercent: z.number().min(0).max(100).optional(),
      tokensAtCheckpoint: Count.optional(),
      costUsd: z.number().nonnegative().optional(),
      /** How far the transcript had been written. */
      transcriptOffset: Count.optional(),
      branch: Line.optional(),
      commit: Line.optional(),
    }),
  }),
  'result.summary': event({
    about: 'A summary of what a session or agent did; declared figures are kept next to the computed ones.',
    reporter: 'session',
    control: ['report'],
    isLate: true,
    std008: 'summary',
    title: ({ payload: p }) => [p.summary],
    search: ({ payload: p }) => [p.summary, p.errorsEncountered],
    payload: z.strictObject({
      summary: Body.optional(),
      totalDurationMs: Millis.optional(),
      toolCallsCount: Count.optional(),
      filesCreated: z.array(Line).optional(),
      filesModified: z.array(Line).optional(),
      errorsEncountered: z.unknown().optional(),
      declared: JsonObject.optional(),
      /** The report of a crew; people land its work by it. */
      report: JsonObject.optional(),
    }),
  }),
  'context.compacted': event({
    about: 'The context of an agent was compacted.',
    reporter: 'operator',
    control: ['vault'],
    title: ({ payload: p }) => [p.trigger, p.tokensBefore, p.tokensAfter && '→', p.tokensAfter],
    search: ({ payload: p }) => [p.summary],
    payload: z.strictObject({
      tokensBefore: Count.optional(),
      tokensAfter: Count.optional(),
      trigger: z.enum(['auto', 'manual', 'limit']).optional(),
      summary: Body.optional(),
      /** The name under which the vault keeps the conversation that goes on from here. */
      vault: Line.optional(),
    }),
  }),
}
