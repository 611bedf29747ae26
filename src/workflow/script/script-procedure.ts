import type { Procedure } from '../../ports/durable.ts'
import { approval } from './approval.ts'
import type { ScriptInput, ScriptParts } from './script-parts.ts'
import { ScriptRun } from './script-run.ts'

export const scriptName = 'script'

/** What a script returned. */
export type ScriptResult = { readonly result: unknown }

/** Runs a script that a user wrote, once somebody has approved it. */
export const scriptProcedure = (parts: ScriptParts): Procedure<ScriptInput, ScriptResult> => ({
  name: scriptName,
  version: '1',
  async run(flow, input) {
    const approved = await approval(parts, flow, input)
    return { result: await new ScriptRun(parts, flow, { input, approved }).run() }
  },
})
