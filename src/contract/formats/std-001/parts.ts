import * as z from 'zod'

/** A time as a session file writes it: ISO-8601 with a zone, any precision. */
export const IsoTime = z.iso.datetime({ offset: true })
/** A name by which one record of a session file points at another. */
export const FileId = z.string().min(1)
export const Confidence = z.enum(['high', 'medium', 'low'])
/** How a session or sub-session stands; the format has no other words. */
export const SessionStatus = z.enum(['success', 'failed', 'in_progress'])
export type SessionStatus = z.infer<typeof SessionStatus>
