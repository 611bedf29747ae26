import * as z from 'zod'
import { AgentCliName, GivenName } from './names.ts'

const Args = z.array(z.string().min(1).max(4096)).max(64)
const Model = z.string().min(1).max(200)

const Program = z
  .string()
  .min(1)
  .max(4096)
  // A shell line would be looked up as one file name and fail at every spawn.
  .refine((text) => !/\s-|[\n;|&`]/.test(text), 'only the program; its arguments belong in default_args')

const AgentConfig = z.strictObject({
  model: Model.optional().describe(
    'Model for this agent type; the agent file decides when it is left out. A model named at spawn wins.',
  ),
  args: Args.optional().describe(
    'Arguments for this agent type instead of default_args; an empty list means none.',
  ),
  cli: AgentCliName.optional().describe('Coding agent that runs this type; claude when left out.'),
})

const Preset = z.strictObject({
  model: Model.optional().describe('Model of the preset; it wins over the agent type.'),
  args: Args.optional().describe('Arguments of the preset, instead of those of the agent type.'),
})

/** How coding agents are launched. */
export const ClaudeConfig = z
  .strictObject({
    default_command: Program.default('claude').describe(
      'Program that starts Claude Code: a name on the PATH or a full path, never a shell line.',
    ),
    default_args: Args.default([]).describe(
      'Arguments of every launch whose agent type sets none. Empty means that Claude Code asks before it acts.',
    ),
    agent_configs: z
      .record(GivenName, AgentConfig)
      .default({})
      .describe('Settings per agent type. Names are case-insensitive and kept in lower case.'),
    presets: z
      .record(GivenName, Preset)
      .default({})
      .describe('Named bundles of model and arguments for `sm spawn --preset`.'),
  })
  .prefault({})
  .describe('How coding agents are launched.')
