import { schemaProblems } from '../contract/config/schema-problems.ts'
import { AppError } from '../contract/errors.ts'
import { jsonSyntaxError } from '../contract/json-syntax.ts'
import type { Route } from '../contract/route.ts'
import { positionAt } from '../contract/yaml-position.ts'

/** What a request says, before it is checked. */
type RawInput = {
  readonly params: Readonly<Record<string, string>>
  readonly queries: Readonly<Record<string, readonly string[]>>
  readonly body: unknown
}

/** Checks what a request says against its route; a refusal names each place that does not fit. */
export function readInput(route: Route, { params, queries, body }: RawInput): Record<string, unknown> {
  const fields = route.method === 'post' ? objectBody(body) : single(queries)
  const parsed = route.input.safeParse({ ...fields, ...params }, { reportInput: true })
  if (parsed.success) return parsed.data
  const known = {
    beside: (path: readonly PropertyKey[]) => (path.length === 0 ? Object.keys(route.input.shape) : []),
    all: () => [],
  }
  const details = schemaProblems(parsed.error.issues, known).map(({ path, message }) => ({
    path: path.map(String).join('.'),
    message,
  }))
  const [worst] = details
  const more = details.length > 1 ? ` (and ${details.length - 1} more)` : ''
  throw new AppError('invalid', `${worst?.path ? `${worst.path}: ` : ''}${worst?.message ?? ''}${more}`, {
    details,
  })
}

function objectBody(body: unknown): object {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body
  throw new AppError('invalid', 'the body must be a JSON object')
}

// Which of two values is meant is a guess, and guesses differ between servers.
function single(queries: RawInput['queries']): Record<string, string> {
  const fields: Record<string, string> = Object.create(null) as Record<string, string>
  for (const [name, values] of Object.entries(queries)) {
    if (values.length > 1)
      throw new AppError('invalid', `${name}: given ${values.length} times; give it once`)
    fields[name] = values[0] ?? ''
  }
  return fields
}

/** Reads the JSON body of a request, never more of it than the limit. */
export async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/json *(?:;|$)/i.test(type))
    throw new AppError('unsupported_media', 'send the body as content-type: application/json')
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes)
  const text = decode(await readBytes(request, maxBytes))
  return text === '' ? {} : parse(text)
}

/** A part of a body, as a socket gives it. */
const partBytes = 64 * 1024

/** Not known to be in one part. */
export const isLarge = (request: Request): boolean =>
  !(Number(request.headers.get('content-length') ?? NaN) <= partBytes)

let lastPart: Promise<void> = Promise.resolve()

/**
 * Lets what else has come in be answered: of all large bodies together one part is gone through in a turn of the event
 * loop. The parts that are here already would all be read in one.
 */
export function letOthersIn(): Promise<void> {
  lastPart = lastPart.then(() => new Promise((resolve) => setImmediate(resolve)))
  return lastPart
}

async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = []
  const reader = request.body?.getReader()
  if (!reader) return chunks
  const refuseUnhandy = bodyGauge(maxBytes)
  const isPaced = isLarge(request)
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return chunks
    bytes += value.byteLength
    if (isPaced || bytes > partBytes) await letOthersIn()
    try {
      // A sender may leave out or understate the length, so the bytes themselves are counted too.
      if (bytes > maxBytes) throw tooLarge(maxBytes)
      refuseUnhandy(value)
    } catch (error) {
      reader.releaseLock()
      throw error
    }
    chunks.push(value)
  }
}

const deepest = 200
/** As many values as a body of this size has when each says something. */
const valuesIn = (bytes: number): number => Math.max(100_000, bytes / 64)

/** What a byte means to the gauge. */
const [quote, backslash, comma, opening, closing] = [1, 2, 3, 4, 5]
const meanings = new Uint8Array(256)
for (const [characters, meaning] of [
  ['"', quote],
  ['\\', backslash],
  [',', comma],
  ['[{', opening],
  [']}', closing],
] as const)
  for (const character of characters) meanings[character.charCodeAt(0)] = meaning

/**
 * Refuses what is small to send and dear to go through: a nest that uses up a stack, a crowd of tiny values. It looks at
 * the bytes as they come in, because parsing such a body would already hold up everybody else.
 */
function bodyGauge(maxBytes: number): (bytes: Uint8Array) => void {
  const most = valuesIn(maxBytes)
  const seen = { depth: 0, count: 0, isText: false, isEscaped: false }
  return (bytes) => {
    // Variables of the loop's own: it runs several times as fast with them.
    let { depth, count, isText, isEscaped } = seen
    for (let at = 0; at < bytes.length; at++) {
      const meaning = meanings[bytes[at] as number]
      if (isEscaped) isEscaped = false
      else if (meaning === 0) continue
      else if (isText) {
        if (meaning === quote) isText = false
        else if (meaning === backslash) isEscaped = true
      } else if (meaning === quote) isText = true
      else if (meaning === comma) count += 1
      else if (meaning === closing) depth -= 1
      else if (meaning === opening) {
        count += 1
        depth += 1
        if (depth > deepest)
          throw new AppError('too_large', `the body is nested deeper than ${deepest} levels; flatten it`)
      }
    }
    if (count > most)
      throw new AppError('too_large', `the body has more than ${most} values; send it in smaller parts`)
    Object.assign(seen, { depth, count, isText, isEscaped })
  }
}

function decode(chunks: readonly Uint8Array[]): string {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    let text = ''
    for (const chunk of chunks) text += decoder.decode(chunk, { stream: true })
    return text + decoder.decode()
  } catch (error) {
    if (error instanceof TypeError) throw new AppError('invalid', 'the body is not valid UTF-8')
    throw error
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    // The parser's own message does not always say where, and quotes the body.
    const position = jsonSyntaxError(text).offset
    const { line, column } = positionAt(text, position)
    throw new AppError('invalid', `the body is not JSON: see line ${line}, column ${column}`, {
      details: { position, line, column },
    })
  }
}

const tooLarge = (maxBytes: number): AppError =>
  new AppError('too_large', `the body is over ${maxBytes} bytes; send it in smaller parts`)
