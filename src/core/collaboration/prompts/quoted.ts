/** A text in a fence that nothing in it can close. */
export function fenced(text: string, language = ''): string {
  const runs = [...text.matchAll(/`{3,}/g)].map(([run]) => run.length)
  const fence = '`'.repeat(Math.max(3, ...runs.map((length) => length + 1)))
  return `${fence}${language}\n${text.trimEnd()}\n${fence}`
}

/** A value as JSON in a fence. */
export const fencedJson = (value: unknown): string => fenced(JSON.stringify(value, null, 2), 'json')

/** The end of a long text, which is where a program says what went wrong. */
export const endOf = (text: string, most: number): string =>
  text.length > most ? `…\n${text.slice(-most)}` : text

/** How every agent is told to answer. */
export const howToAnswer = (example: unknown): string =>
  `End your answer with exactly one JSON object of this shape, and nothing after it. Words in <…> are yours to fill in.\n\n${fencedJson(example)}`

/** A prompt with the sentences that a crew gives one of its members; they come first, so that the form stays last. */
export const withGuidelines = (prompt: string, guidelines: readonly string[]): string =>
  guidelines.length === 0
    ? prompt
    : `Guidelines of this crew:\n${guidelines.map((each) => `- ${each}`).join('\n')}\n\n${prompt}`
