import type { ScreenReading, SignalSource } from '../../../contract/signal.ts'
import { line } from './bounds.ts'
import type { NamedMark, ScreenDetail } from './marks.ts'

/**
 * A screen by its shape. The latest of each shape is kept, not the latest screen alone: how long it has
 * looked calm follows from when it last looked otherwise, in whatever order the readings came.
 */
export function readScreen(reading: ScreenReading, seen: { at: number; source: SignalSource }): NamedMark {
  const { composer, dialog } = reading
  const detail: ScreenDetail = {
    ...(reading.retry && {
      retry: {
        attempt: reading.retry.attempt,
        ...(reading.retry.of !== undefined && { of: reading.retry.of }),
      },
    }),
    ...(reading.limit && { limit: line(reading.limit.text) }),
    ...(reading.error !== undefined && { error: line(reading.error) }),
    ...(reading.queued !== undefined && { queued: reading.queued }),
  }
  const mark = { at: seen.at, source: seen.source, ...detail }
  // A menu is opened by a person and asks for nothing.
  if (dialog && dialog.kind !== 'menu')
    return { name: 'screen-dialog', mark: { ...mark, kind: dialog.kind, title: line(dialog.title) } }
  if (reading.isWorking || reading.retry) return { name: 'screen-working', mark }
  if (composer.state === 'none' || dialog) return { name: 'screen-opaque', mark }
  return { name: 'screen-calm', mark: { ...mark, composer: composer.state } }
}
