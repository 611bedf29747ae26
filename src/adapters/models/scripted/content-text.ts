/** The text in a message's content: a text, a block, or a list of them; blocks of other kinds give none. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  if (Array.isArray(content)) return content.map(contentText).filter(Boolean).join('\n')
  if (typeof content !== 'object' || content === null) return ''
  const { text, content: inner } = content as { text?: unknown; content?: unknown }
  return typeof text === 'string' ? text : contentText(inner)
}

/** The text of each block by itself: prompts that were never answered are sent as blocks of one message. */
export function contentTexts(content: unknown): string[] {
  return Array.isArray(content) ? content.map(contentText).filter(Boolean) : [contentText(content)]
}
