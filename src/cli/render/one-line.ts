// Control characters from a log or a file could move the cursor, colour the terminal or hide text.
const control = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]+/g

/** Makes foreign text safe to show inside one line of a terminal. */
export function oneLine(text: string): string {
  return text.replaceAll(control, ' ').trim()
}
