import type { CheckpointView } from '../../contract/session-views.ts'
import { clock } from './clock.ts'
import { oneLine } from './one-line.ts'

/** Milestones with their time, oldest first. */
export function milestoneLines(checkpoints: readonly CheckpointView[], now: number): string[] {
  return checkpoints.map(({ timestamp, message }) => `[${clock(timestamp, now)}] ${oneLine(message)}`)
}
