/** Linux takes no single argument over 128 KB; the rest is for what a CLI adds around it. */
const longest = 100_000

/** Whether a text can be an argument of a program. */
export const fitsArgument = (text: string): boolean =>
  Buffer.byteLength(text) <= longest && !text.includes('\0')
