/** What the journal gives an event when it takes it; the journal that takes it again gives its own. */
const givenAtAppend = ['seq', 'recordedAt', 'schemaVersion', 'producer', 'redacted']

/** An exported line as an event to be appended; a line that is no event is sent as it is, and refused by itself. */
export function draftOf(line: string): unknown {
  const value = parsed(line)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([name]) => !givenAtAppend.includes(name)))
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch (error) {
    if (error instanceof SyntaxError) return line
    throw error
  }
}
