/** What of a final text was not said yet: nothing, its end, or all of it again when what was heard had holes. */
export function restOf(heard: string, final: string): string {
  const whole = final.trimEnd()
  // A very long text is told by its beginning only.
  if (heard.trimEnd() === whole || (whole !== '' && heard.startsWith(whole))) return ''
  return whole.startsWith(heard) ? whole.slice(heard.length) : `${heard.trim() === '' ? '' : '\n\n'}${whole}`
}
