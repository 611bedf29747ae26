import type { ScriptLimits, ScriptMeta, ScriptSource } from '../../contract/script.ts'
import type { PriceBook } from '../../core/ledger/price-book.ts'
import type { Budgets } from '../../engine/budgets.ts'
import { Conversation } from '../../engine/delegation/conversation.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Procedure } from '../../ports/durable.ts'
import type { ReadFacts } from '../../ports/facts.ts'
import type { Scripts } from '../../ports/scripts.ts'
import type { Workers } from '../../ports/workers.ts'
import { approval } from './approval.ts'
import { ScriptRun } from './script-run.ts'

export const scriptName = 'script'

/** What a script returned. */
type ScriptResult = { readonly result: unknown }

/** Runs a script that a user wrote, once somebody has approved it. */
export const scriptProcedure = (parts: ScriptParts): Procedure<ScriptInput, ScriptResult> => ({
  name: scriptName,
  version: '2',
  async run(flow, input) {
    const approved = await approval(parts, flow, input)
    const talk = await Conversation.open(parts, flow)
    return { result: await new ScriptRun(parts, flow, { input, approved, talk }).run() }
  },
})

/** What scripts are run with. */
export type ScriptParts = {
  readonly engine: Pick<Engine, 'perform'>
  readonly clock: Clock
  readonly scripts: Scripts
  readonly workers: Workers
  readonly budgets: Pick<Budgets, 'over' | 'used' | 'watch'>
  readonly prices: Pick<PriceBook, 'knows'>
  readonly events: ReadFacts
  readonly onBug: (error: unknown, where: string) => void
}

/** A run of a script as it is asked for; its text is kept with it. */
export type ScriptInput = {
  readonly meta: ScriptMeta
  readonly source: ScriptSource
  readonly args: unknown
  /** The folder that its agents work in, a full path. */
  readonly workspace: string
  /** Who does the work where the script does not say; `own` or a program. */
  readonly cli: string
  readonly limits: ScriptLimits
  /** A person agreed to run the script of this hash without walls. */
  readonly unsafe?: string | undefined
  /** Somebody has approved it before; else a person is asked. */
  readonly approvedBy?: string | undefined
}
