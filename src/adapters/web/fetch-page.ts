import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP } from 'node:net'
import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { AppError } from '../../contract/errors.ts'
import { hostOf, mustBeAllowed, mustBePublic, type WebPolicy } from './web-policy.ts'

/** A page as it came. */
export type Page = {
  /** Where it was found, after redirections. */
  readonly url: URL
  readonly status: number
  readonly type: string
  readonly body: Buffer
  /** There was more than is read. */
  readonly isCut: boolean
}

type Fetching = { readonly policy: WebPolicy; readonly signal: AbortSignal }

const mostHops = 5
const mostBytes = 5 << 20
const readable = /^(text\/|application\/(json|xml|javascript|ecmascript|yaml)$|[\w.-]+\/[\w.-]+\+(json|xml)$)/

/** Gets a page; every hop on the way is held to the policy, and connected to the very address that was looked at. */
export async function fetchPage(address: string, { policy, signal }: Fetching): Promise<Page> {
  let url = readUrl(address)
  for (let hops = 0; hops <= mostHops; hops += 1) {
    mustBeAllowed(url, policy)
    const answer = await ask(url, { policy, signal })
    const next = placeOf(answer, url)
    if (!next) return await readAnswer(answer, url)
    answer.destroy()
    url = next
  }
  throw new AppError(
    'unavailable',
    `${address.slice(0, 200)} redirected more than ${mostHops} times; look elsewhere`,
  )
}

function readUrl(address: string, base?: URL): URL {
  const url = URL.parse(address, base?.href)
  if (!url)
    throw new AppError(
      'invalid',
      `${address.slice(0, 200)} is not a web address; give one like https://example.com/page`,
    )
  return url
}

function placeOf({ statusCode = 0, headers }: IncomingMessage, url: URL): URL | undefined {
  const isPassedOn = [301, 302, 303, 307, 308].includes(statusCode) && headers.location !== undefined
  return isPassedOn ? readUrl(headers.location ?? '', url) : undefined
}

async function ask(url: URL, { policy, signal }: Fetching): Promise<IncomingMessage> {
  const host = hostOf(url)
  const addresses = await addressesOf(host, signal)
  const numbers = addresses.map(({ address }) => address)
  mustBePublic(url, numbers, policy)
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  const request = send(url, {
    signal,
    // No connection is shared: one that another call opened was looked at under another policy.
    agent: false,
    // The name is not asked for again: a second answer may be another one.
    lookup: (_name, options, done) => {
      const [first] = addresses
      if (options.all)
        done(
          null,
          addresses.map((one) => ({ ...one })),
        )
      else done(null, first?.address ?? '', first?.family)
    },
    headers: {
      'user-agent': 'muster',
      accept: 'text/html, text/markdown, text/plain, application/json, application/xml;q=0.9, text/*;q=0.8',
      'accept-encoding': 'gzip, deflate, br',
    },
  })
  request.end()
  try {
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    return answer
  } catch (error) {
    throw unreachable(url, error, signal)
  }
}

async function addressesOf(host: string, signal: AbortSignal) {
  const family = isIP(host)
  if (family !== 0) return [{ address: host, family }]
  const gaveUp = Promise.withResolvers<never>()
  const giveUp = () => gaveUp.reject(signal.reason as Error)
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    return await Promise.race([lookup(host, { all: true }), gaveUp.promise])
  } catch (error) {
    signal.throwIfAborted()
    throw new AppError('unavailable', `${host} was not found; check the address`, { cause: error })
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

function unreachable(url: URL, error: unknown, signal: AbortSignal): Error {
  if (signal.aborted) return signal.reason as Error
  return new AppError('unavailable', `${hostOf(url)} does not answer: ${(error as Error).message}`, {
    cause: error,
  })
}

async function readAnswer(answer: IncomingMessage, url: URL): Promise<Page> {
  const type = (answer.headers['content-type'] ?? '').toLowerCase()
  const plain = (type.split(';')[0] ?? '').trim()
  if (!readable.test(plain)) {
    answer.destroy()
    throw new AppError(
      'invalid',
      `${url.href.slice(0, 200)} is of the type ${plain || 'unknown'}, and only text, JSON and XML are read; look for a page about it`,
    )
  }
  const parts: Buffer[] = []
  let bytes = 0
  for await (const chunk of unpacked(answer) as AsyncIterable<Buffer>) {
    parts.push(chunk.subarray(0, mostBytes - bytes))
    bytes += chunk.length
    if (bytes >= mostBytes) break
  }
  answer.destroy()
  const page = { url, status: answer.statusCode ?? 0, type, body: Buffer.concat(parts) }
  return { ...page, isCut: bytes >= mostBytes }
}

function unpacked(answer: IncomingMessage): Readable {
  const unpack = { gzip: createGunzip, deflate: createInflate, br: createBrotliDecompress } as const
  const way = unpack[(answer.headers['content-encoding'] ?? '') as keyof typeof unpack]
  // A failure of either side comes out of the last one.
  return way ? pipeline(answer, way(), () => {}) : answer
}
