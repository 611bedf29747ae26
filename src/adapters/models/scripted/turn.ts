/** One entry of a conversation, as every protocol has it. `other` is what neither asks nor answers. */
export type Turn = { readonly role: 'user' | 'model' | 'tool' | 'other'; readonly text: string }

/** Entries in a row that the model gave are one turn of it: thoughts, words and calls come apart in some protocols. */
export function joinModelTurns(turns: readonly Turn[]): Turn[] {
  return turns.filter((turn, index) => turn.role !== 'model' || turns[index - 1]?.role !== 'model')
}
