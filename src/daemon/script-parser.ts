import type { ParsedScript } from '../adapters/scripts/parse-script.ts'
import type { ParseScript } from '../adapters/scripts/read-script.ts'
import { AppError } from '../contract/errors.ts'
import { WorkerCalls, workerEntry } from './worker-calls.ts'

const longestMs = 20_000

/**
 * Parses scripts in a thread, which is begun by the first and given up when it refuses one: a text can be made to
 * break the parser or to keep it busy for ever.
 */
export function scriptParser(mostMs = longestMs): { readonly parse: ParseScript; close(): Promise<void> } {
  let worker: WorkerCalls | undefined
  const giveUp = async (): Promise<void> => {
    const given = worker
    worker = undefined
    await given?.close()
  }
  const parse: ParseScript = async (name, text, isMain) => {
    worker ??= new WorkerCalls(workerEntry('script-worker'), undefined)
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      late.reject(new AppError('invalid', `${name} takes too long to parse; make it simpler`))
    }, mostMs)
    try {
      return await Promise.race([worker.call<ParsedScript>('parse', name, text, isMain), late.promise])
    } catch (error) {
      await giveUp()
      throw error
    } finally {
      clearTimeout(timer)
    }
  }
  return { parse, close: giveUp }
}
