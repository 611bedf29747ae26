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
  const parsed = route.input.safeParse({ ...fields, ...params })
  if (parsed.success) return parsed.data
  const details = parsed.error.issues.map((issue) => ({
    path: issue.path.map(String).join('.'),
    message: issue.message,
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

/** Of a large body so much is gone through before others are answered. */
const oneTurnBytes = 64 * 1024

/** Lets what else has come in be answered: the parts of a large body that are here already would all be read in one turn. */
export const letOthersIn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = []
  const reader = request.body?.getReader()
  if (!reader) return chunks
  const refuseUnhandy = bodyGauge(maxBytes)
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return chunks
    bytes += value.byteLength
    if (bytes > oneTurnBytes) await letOthersIn()
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

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c]
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Refuses what is small to send and dear to go through: a nest that uses up a stack, a crowd of tiny values. It looks at
 * the bytes as they come in, because parsing such a body would already hold up everybody else.
 */
function bodyGauge(maxBytes: number): (bytes: Uint8Array) => void {
  const most = valuesIn(maxBytes)
  let [depth, count, isText, isEscaped] = [0, 0, false, false]
  return (bytes) => {
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]
      if (isText) {
        if (isEscaped) isEscaped = false
        else if (byte === backslash) isEscaped = true
        else if (byte === quote) isText = false
      } else if (byte === quote) isText = true
      else if (byte === comma) count += 1
      else if (byte === openArray || byte === openObject) {
        count += 1
        depth += 1
        if (depth > deepest)
          throw new AppError('too_large', `the body is nested deeper than ${deepest} levels; flatten it`)
      } else if (byte === closeArray || byte === closeObject) depth -= 1
    }
    if (count > most)
      throw new AppError('too_large', `the body has more than ${most} values; send it in smaller parts`)
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
