/** Control characters but tab and newline; an escape among them would be a key press. */
const controls = /(?![\t\n])\p{Cc}/gu

/**
 * A message as it may be typed into the box of a CLI: no control characters, and a plain word before what the CLI
 * would take for a command, which `commanding` tells from the first character that is no blank.
 */
export function typedText(text: string, commanding: RegExp): string {
  const clean = text.replaceAll(/\r\n?/g, '\n').replaceAll(controls, '').trimEnd()
  const start = clean.trimStart()
  const labelled = commanding.test(start) ? `Message: ${start}` : clean
  // A backslash would turn the Enter after it into a line break; a file or skill being completed would swallow it.
  return /\\$|(^|\s)[@$]\S*$/.test(labelled) ? `${labelled} ` : labelled
}
