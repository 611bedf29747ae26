import { BlockList, isIP } from 'node:net'
import { AppError } from '../../contract/errors.ts'

/** Hosts that agents may read from: names such as `example.com`, `*.example.com` for those below it, `*` for all. */
export type WebPolicy = {
  /** One that is named in full may also lie in a private network. */
  readonly allow: readonly string[]
  /** Stronger than `allow`. */
  readonly deny: readonly string[]
}

/** The host of an address as a policy names it. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')

/** Refuses an address that the policy does not open. */
export function mustBeAllowed(url: URL, { allow, deny }: WebPolicy): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new AppError('denied', `${shown(url)} is neither http nor https; give an address that is`)
  if (url.username !== '' || url.password !== '')
    throw new AppError('denied', 'an address with a name and password in it is not fetched; leave them out')
  const host = hostOf(url)
  if (deny.some((pattern) => matches(host, pattern)))
    throw new AppError('denied', `${host} is blocked by the policy; look elsewhere`)
  if (!allow.some((pattern) => matches(host, pattern)))
    throw new AppError(
      'denied',
      `${host} is not among the hosts that may be read (${allow.join(', ') || 'none'}); look elsewhere`,
    )
}

/** Refuses what lies on this machine or in a private network, unless the policy names the host. */
export function mustBePublic(url: URL, addresses: readonly string[], { allow }: WebPolicy): void {
  const host = hostOf(url)
  if (allow.some((pattern) => pattern.toLowerCase() === host)) return
  const inside = addresses.find((address) => !isPublic(address))
  if (inside !== undefined)
    throw new AppError(
      'denied',
      `${host} leads to ${inside}, which is not on the public internet; a person can name the host in the policy`,
    )
}

function matches(host: string, pattern: string): boolean {
  const wanted = pattern.toLowerCase()
  if (wanted === '*') return true
  return wanted.startsWith('*.') ? host.endsWith(wanted.slice(1)) : host === wanted
}

const shown = (url: URL): string => url.href.slice(0, 200)

/** The special ranges of both registries of IANA. */
const special = new BlockList()
for (const range of [
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24',
  '192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4',
].flatMap((line) => line.split(' '))) {
  const [net = '', bits] = range.split('/')
  special.addSubnet(net, Number(bits), 'ipv4')
}
const specialSix = new BlockList()
for (const range of ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']) {
  const [net = '', bits] = range.split('/')
  specialSix.addSubnet(net, Number(bits), 'ipv6')
}
const global = new BlockList()
global.addSubnet('2000::', 3, 'ipv6')

/** Only addresses that anybody on the internet can reach; one of the other kind inside of one is none. */
export function isPublic(address: string): boolean {
  const plain = address.replace(/%.*$/, '')
  if (isIP(plain) === 4) return !special.check(plain, 'ipv4')
  return isIP(plain) === 6 && global.check(plain, 'ipv6') && !specialSix.check(plain, 'ipv6')
}
