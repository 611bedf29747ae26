import fc from 'fast-check'
import { AppError } from '../../src/contract/errors.ts'
import { readSession } from '../../src/session-file/read-session.ts'
import { validateSession } from '../../src/session-file/validate.ts'
import { seeded } from './random.ts'
import { example, single } from './std-008.ts'
import { agentSessions, multiAgentSessions } from './std-008-arbitraries.ts'
import { mutated } from './std-008-mutations.ts'

export type MutationResult = { readonly read: number; readonly repaired: number; readonly refused: number }

/**
 * Reads damaged session files. Each must be refused by name or come out without a single error, and what came out
 * must need no second repair; anything else is thrown with the number of the file.
 */
export function mutationCampaign({ files, seed }: { files: number; seed: number }): MutationResult {
  const random = seeded(seed)
  const whole = [
    example(),
    single(),
    ...fc.sample(multiAgentSessions, { numRuns: 40, seed }),
    ...fc.sample(agentSessions, { numRuns: 15, seed }),
  ]
  const result = { read: 0, repaired: 0, refused: 0 }
  for (let n = 0; n < files; n++) {
    const damaged = mutated(whole[Math.floor(random() * whole.length)], random)
    const outcome = readOne(damaged, n)
    result[outcome] += 1
  }
  return result
}

function readOne(damaged: unknown, n: number): keyof MutationResult {
  try {
    const { session, repairs } = readSession(damaged)
    const { errors } = validateSession(session)
    if (errors.length > 0) throw new Error(`still wrong: ${JSON.stringify(errors[0])}`)
    const again = readSession(JSON.parse(JSON.stringify(session)))
    if (again.repairs.length > 0) throw new Error(`repaired twice: ${JSON.stringify(again.repairs[0])}`)
    return repairs.length === 0 ? 'read' : 'repaired'
  } catch (cause) {
    if (cause instanceof AppError && cause.code === 'invalid') return 'refused'
    throw new Error(`file ${n}: ${String(cause)}`, { cause })
  }
}
