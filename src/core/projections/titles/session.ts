import type { journalEvents } from '../../../contract/events/journal.ts'
import type { sessionEvents } from '../../../contract/events/session.ts'
import type { Titles } from '../title.ts'

/** Titles of what happens to sessions and to the journal itself. */
export const sessionTitles: Titles<keyof typeof sessionEvents | keyof typeof journalEvents> = {
  'session.started': ({ payload: p }) => [p.name, p.title ?? p.prompt ?? p.description],
  'session.completed': ({ payload: p }) => [p.outcome, p.reason ?? p.message],
  'session.failed': ({ payload: p }) => [p.error ?? p.reason ?? p.message],
  'session.reopened': ({ payload: p }) => [p.by, p.reason],
  'session.launched': ({ payload: p }) => [
    p.cli,
    p.cliVersion,
    'in',
    p.tmuxSession,
    p.isResumed && '(resumed)',
  ],
  'session.updated': ({ payload: { by: _by, ...p } }) =>
    Object.entries(p).map(
      ([name, value]) =>
        `${name}: ${typeof value === 'object' && value ? JSON.stringify(value) : (value ?? 'none')}`,
    ),
  'session.archived': ({ payload: p }) => [p.path],
  'limit.refused': ({ payload: p }) => [p.what, p.limit, p.current, 'of', p.max],
  'session.state.changed': ({ payload: p }) => [p.from, p.from && '→', p.to, p.activity, p.detail],
  'session.annotated': ({ payload: p }) => [p.phaseType, p.description],
  'signal.changed': ({ payload: p }) => [p.signal, '→', p.to, p.detail],
  'progress.checkpoint': ({ payload: p }) => [p.message],
  'result.summary': ({ payload: p }) => [p.summary],
  'context.compacted': ({ payload: p }) => [p.trigger, p.tokensBefore, p.tokensAfter && '→', p.tokensAfter],
  'settings.updated': ({ payload: p }) => [p.projectRoot, p.mode],
  'queue.updated': ({ payload: p }) => [p.agentId, p.items.length],
  'redaction.applied': ({ payload: p }) => Object.entries(p.counts).map(([rule, n]) => `${rule} ${n}`),
  'journal.recovered': ({ payload: p }) => [p.segment, p.reason],
  'journal.pruned': ({ payload: p }) => ['through', p.throughSeq],
  'journal.erased': ({ payload: p }) => [p.seqs.length, p.reason],
  'event.parked': ({ payload: p }) => [p.follower, p.seq, p.error],
}
