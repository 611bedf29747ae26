import type * as z from 'zod'
import type { Tool, ToolContext, ToolOutcome } from '../../ports/tools.ts'

/** A tool that changes no files: it speaks with people, agents or the record. */
export function ownTool<S extends z.ZodType<Readonly<Record<string, unknown>>>>(given: {
  readonly name: string
  readonly description: string
  readonly category: Tool['category']
  readonly input: S
  readonly isParallel?: true
  readonly run: (input: z.output<S>, context: ToolContext) => Promise<ToolOutcome>
}): Tool {
  const { run, ...rest } = given
  return {
    ...rest,
    changes: async () => [],
    run: (input, context) => run(input as z.output<S>, context),
  }
}

export const said = (text: string): ToolOutcome => ({ text, isError: false })
export const wrong = (text: string): ToolOutcome => ({ text, isError: true })
