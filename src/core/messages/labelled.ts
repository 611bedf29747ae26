/** The word by which a person is known; no session goes by it. */
export const operatorName = 'operator'

/** What another agent says carries no authority of a person, and says so. */
export const labelled = (text: string, from: string): string =>
  from === operatorName ? text : `[from ${from}] ${text}`
