import { commandFamily } from './command.ts'

/** What a trace can be cut by: `--slice phase=review`. */
export const traceSlices = ['phase', 'agent', 'tool', 'status'] as const
export type TraceSlice = (typeof traceSlices)[number]

/** Seeing what a session did, and what that cost. */
export const traceCommands = commandFamily({
  trace: {
    group: 'people',
    summary: 'show what a session did, as a tree of agents, tools and results',
    needs: 'daemon',
    answers: 'listTrace',
    arguments: {
      session: {
        takes: 'optional',
        about: 'short id, prefix or name of a session, or of an agent inside of one; this session by default',
      },
    },
    options: {
      follow: { kind: 'switch', short: 'f', about: 'keep it up to date until the session ends' },
      slice: {
        kind: 'text',
        value: 'by=word',
        isMany: true,
        about: 'only one phase, agent, tool or status, and what leads to it; may be repeated',
      },
      depth: { kind: 'count', value: 'levels', about: 'show this many levels below the top' },
      critical: { kind: 'switch', about: 'only what the end waited for, with its share of the time' },
    },
    examples: [
      { line: 'sm trace def456', does: 'every agent with its tools, tests, verdicts, tokens and time' },
      { line: 'sm trace def456 --slice status=error', does: 'only what failed, and where' },
      { line: 'sm trace def456 --critical', does: 'why it took as long as it did' },
      { line: 'sm trace def456 --json', does: 'spans and marks, a page in each line' },
    ],
  },
})
