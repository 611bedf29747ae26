import type { ModelTurn } from '../ports/model.ts'

/** What a model said in a turn, without its thinking and its calls. */
export const wordsOf = ({ parts }: Pick<ModelTurn, 'parts'>): string =>
  parts
    .filter((part) => part.kind === 'text')
    .map((part) => part.text)
    .join('')
