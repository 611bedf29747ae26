import * as z from 'zod'
import { codingCliNames } from '../agent-clis.ts'
import { GivenName } from './names.ts'

/** How a coding agent other than Claude Code is launched; a name that is none of the known ones is a program of the user's own. */
const CliProgram = z.strictObject({
  command: z
    .string()
    .min(1)
    .max(4096)
    .describe('Program: a name on the PATH or a full path, never a shell line.'),
  args: z.array(z.string().min(1).max(4096)).max(64).default([]).describe('Arguments of every launch.'),
  prompt: z
    .enum(['argument', 'typed'])
    .default('typed')
    .describe('How the first prompt reaches a program of your own: as its last argument, or typed into it.'),
})

/** Claude Code has a section of its own. */
const known = codingCliNames.filter((name) => name !== 'claude')

/** Programs of coding agents, by name. */
export const ClisConfig = z
  .record(GivenName, CliProgram)
  .default({})
  .describe(
    `Programs of coding agents by name: ${known.slice(0, -1).join(', ')} and ${known.at(-1)} are known; any other name is an agent of your own for \`sm spawn <name>\`.`,
  )
