import type { BlobRef } from '../contract/values.ts'

/** Texts over the inline limit, content-addressed after redaction and durable before their event. */
export type Blobs = {
  /** Takes the text into the current pack; durable once the batch that refers to it is. */
  put(text: string): BlobRef
  get(ref: BlobRef, signal: AbortSignal): Promise<string>
}
