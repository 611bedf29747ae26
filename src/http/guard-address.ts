import { AppError } from '../contract/errors.ts'

/** Where the daemon answers: its port, and hosts beyond loopback that were configured by name. */
export type Address = { readonly port: () => number; readonly hosts?: readonly string[] }

/** The parts of a request that say where it was sent and from where. */
export type Direction = {
  readonly via: 'tcp' | 'unix'
  readonly host: string | undefined
  readonly origin: string | undefined
}

/** Refuses what a hostile page can send: another name for this machine (DNS rebinding), another origin. */
export function guardAddress({ via, host, origin }: Direction, address: Address): void {
  const own = ownHosts(address)
  const named = host?.toLowerCase()
  if (via === 'tcp' && (named === undefined || !own.has(named)))
    throw new AppError('misdirected', `this is not ${host ?? 'a server without a name'}; use ${first(own)}`)
  if (origin === undefined) return
  const from = /^https?:\/\/(.+)$/.exec(origin.toLowerCase())?.[1]
  const isOwn = from !== undefined && own.has(from) && (via === 'unix' || from === named)
  if (!isOwn)
    throw new AppError('denied', `requests from ${origin} are refused; open the page of this daemon`)
}

/** Refuses what a page of another site loads without saying its origin, like an image that is a stream. */
export function guardFetchSite(site: string | undefined): void {
  if (site === undefined || site === 'same-origin' || site === 'none') return
  throw new AppError('denied', 'requests from the pages of other sites are refused')
}

/** Loopback names with our port, then what was configured. */
function ownHosts({ port, hosts = [] }: Address): Set<string> {
  const number = port()
  const loopback = ['127.0.0.1', 'localhost', '[::1]']
  const own = loopback.map((name) => `${name}:${number}`)
  if (number === 80) own.push(...loopback)
  return new Set([...own, ...hosts.map((host) => host.toLowerCase())])
}

const first = (hosts: ReadonlySet<string>): string => hosts.values().next().value ?? ''
