/** The text of a body: itself when inline, its preview when it is a blob. */
export function bodyText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (isBlob(value)) return value.preview
  return undefined
}

function isBlob(value: unknown): value is { preview: string } {
  return (
    typeof value === 'object' &&
    value !== null &&
    '$blob' in value &&
    'preview' in value &&
    typeof value.preview === 'string'
  )
}
