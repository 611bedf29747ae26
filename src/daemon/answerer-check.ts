import type { ChooseWorkers } from '../api/worker-choices.ts'
import { AppError } from '../contract/errors.ts'
import type { Check } from '../contract/health.ts'

const name = 'who answers'

/** Whether anything here can do work that is asked for: a key, a coding CLI that is logged in, or a model server. */
export async function answererCheck(choose: ChooseWorkers, signal: AbortSignal): Promise<Check> {
  try {
    const [chosen] = await choose([{}], signal)
    return { name, status: 'ok', detail: chosen?.why ?? '' }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { ways = [] } = (error.details ?? {}) as { readonly ways?: readonly string[] }
    // The last is the demonstration, which cures nothing.
    const cure =
      ways.length === 0 ? 'sm models shows what is missing' : `one of: ${ways.slice(0, -1).join('; ')}`
    return { name, status: 'failed', detail: error.message, cure }
  }
}
