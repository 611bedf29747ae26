import { agentClis, codingCliNames } from '../../contract/agent-clis.ts'
import { AppError } from '../../contract/errors.ts'

const telling = codingCliNames.filter((name) => agentClis[name].tellsCost)
const tells: ReadonlySet<string> = new Set(telling)

/** Refuses a limit in money for those whose money nobody counts. */
export function refuseUncounted(usd: number | undefined, clis: Iterable<string>): void {
  if (usd === undefined) return
  const others = [...new Set(clis)]
    .filter((cli) => !tells.has(cli))
    .map((cli) => (cli === 'own' ? 'an agent of our own' : cli))
  if (others.length > 0)
    throw new AppError(
      'invalid',
      `what ${others.join(', ')} costs is not told, so a limit of $${usd.toFixed(2)} would never be reached; limit the tokens instead, or have ${telling.join(' or ')} do the work`,
    )
}
