import type { BlobRef } from '../../contract/values.ts'

/** What a list shows of a text: all of it, or the beginning of one that was moved to a blob. */
export const textOf = (body: string | BlobRef): string => (typeof body === 'string' ? body : body.preview)
