/** Asks an agent once more for an answer that could not be used. */
export const repairPrompt = (problems: readonly string[]): string =>
  `Your answer could not be used:\n\n${problems.map((problem) => `- ${problem}`).join('\n')}\n\nDo no other work. Answer again with the whole JSON object, mended, and nothing after it.`
