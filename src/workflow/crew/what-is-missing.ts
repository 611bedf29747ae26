import type { Attempted } from './carry-out.ts'

/** What is missing of a task that is partly done: why it was stopped, or what its developer said. */
export const whatIsMissing = ({ failure, output }: Pick<Attempted, 'failure' | 'output'>): string =>
  failure?.error ?? (output.blockers?.join('; ') || output.summary || 'it does not say what is missing')
