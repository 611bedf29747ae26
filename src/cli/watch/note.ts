import type { Note, WatchModel } from './model.ts'

const shownMs = { plain: 6000, good: 8000, bad: 20_000 } as const

/** Tells the person something, for a while. */
export function said(model: WatchModel, tone: Note['tone'], text: string): WatchModel {
  return { ...model, note: { text, tone, until: model.now + shownMs[tone] } }
}
