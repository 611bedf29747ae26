import { BlobRef } from './values.ts'

/** Every reference to a long text inside a value, however deep it is. */
export function* blobRefs(value: unknown): Generator<BlobRef> {
  const left = [value]
  while (left.length > 0) {
    const one = left.pop()
    if (typeof one !== 'object' || one === null) continue
    const ref = '$blob' in one ? BlobRef.safeParse(one) : undefined
    if (ref?.success) yield ref.data
    else for (const part of Object.values(one)) left.push(part)
  }
}
