const mostBytes = 15 * 1024 * 1024

/** The payload of a hook: one JSON value on stdin. Some CLIs leave stdin open, so the first whole value is enough. */
export async function readHookPayload(signal: AbortSignal): Promise<Record<string, unknown>> {
  let text = ''
  for await (const piece of process.stdin.setEncoding('utf8')) {
    signal.throwIfAborted()
    text += String(piece)
    if (text.length > mostBytes) break
    const value = text.includes('\n') || text.trimEnd().endsWith('}') ? parsed(text) : undefined
    if (value !== undefined) return value
  }
  return parsed(text) ?? {}
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
