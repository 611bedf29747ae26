import type { Draft } from '../../contract/event.ts'
import type { BlobRef } from '../../contract/values.ts'

/** What was said of a session since its last prompt; the next prompt makes it old. */
export type TurnNotes = {
  readonly isIdleTold?: boolean
  /** Somebody said that it is not finished: the same evidence does not ask again. */
  readonly isEndRefused?: boolean
  readonly milestone?: { readonly message: string; readonly progressPercent?: number }
}

const milestoneChars = 400

/** What is now noted; undefined when nothing is. */
export function evolveNotes(notes: TurnNotes | undefined, event: Draft): TurnNotes | undefined {
  switch (event.type) {
    case 'agent.spawned':
      return event.parentRunId === undefined ? undefined : notes
    case 'agent.idle':
      return { ...notes, isIdleTold: true }
    case 'session.state.changed':
      return event.payload.to === 'running' && notes?.isIdleTold ? { ...notes, isIdleTold: false } : notes
    case 'approval.rejected':
      return event.payload.subject === 'termination' ? { ...notes, isEndRefused: true } : notes
    case 'progress.checkpoint': {
      const { message, progressPercent } = event.payload
      const milestone = {
        message: textOf(message).slice(0, milestoneChars),
        ...(progressPercent !== undefined && { progressPercent }),
      }
      return { ...notes, milestone }
    }
    default:
      return notes
  }
}

const textOf = (text: string | BlobRef): string => (typeof text === 'string' ? text : text.preview)
