import type { FileChange, ToolOutcome } from '../../ports/tools.ts'
import type { Verdict } from './guard-files.ts'
import type { Ran } from './run-shell.ts'

const mostNamed = 50
const mostTold = 1000

/** What a model is told of a command that ran. */
export function bashOutcome(ran: Ran, verdict?: Verdict): ToolOutcome {
  const broken = verdict ? [...verdict.undone, ...verdict.failed].map(({ path }) => path) : []
  const isBroken = verdict !== undefined && broken.length > 0
  const text = [
    ...(isBroken ? violation(verdict) : []),
    ...(ran.text === '' ? [] : [ran.text.replace(/\n$/, '')]),
    ...endingOf(ran),
  ].join('\n')
  return {
    text,
    isError: isBroken || ran.why !== 'ended' || ran.exitCode !== 0,
    exitCode: ran.exitCode,
    ...(ran.isTruncated && { isTruncated: true as const }),
    ...(verdict && { changes: [...verdict.changes, ...verdict.failed].slice(0, mostTold) }),
    ...(isBroken && { scopeViolation: broken.slice(0, mostTold) }),
  }
}

function violation({ undone, failed }: Verdict): readonly string[] {
  return [
    ...list('scope_violation: these changes are outside of what may be changed and were undone:', undone),
    ...list(
      'scope_violation: these changes are outside of what may be changed and could NOT be undone:',
      failed,
    ),
    '',
  ]
}

function list(title: string, changes: readonly FileChange[]): readonly string[] {
  if (changes.length === 0) return []
  const more = changes.length - mostNamed
  return [
    title,
    ...changes.slice(0, mostNamed).map(({ path, change }) => `- ${change} ${path}`),
    ...(more > 0 ? [`- and ${more} more`] : []),
  ]
}

function endingOf({ why, exitCode, text, left }: Ran): readonly string[] {
  const still = left.length > 0 ? [`[still running, could not be ended: process ${left.join(', ')}]`] : []
  if (why === 'timeout') return ['[ended: it took longer than its timeout]', ...still]
  if (why === 'cancelled') return ['[ended: the call was cancelled]', ...still]
  if (exitCode !== 0) return [`[exit code ${exitCode}]`, ...still]
  return [...(text === '' ? ['[no output]'] : []), ...still]
}
