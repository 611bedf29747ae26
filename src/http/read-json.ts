import { AppError } from '../contract/errors.ts'
import { jsonSyntaxError } from '../contract/json-syntax.ts'
import { positionAt } from '../contract/yaml-position.ts'

/** Reads the JSON body of a request, never more of it than the limit. */
export async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/json *(?:;|$)/i.test(type))
    throw new AppError('unsupported_media', 'send the body as content-type: application/json')
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes)
  const text = decode(await readBytes(request, maxBytes))
  return text === '' ? {} : parse(text)
}

async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = []
  const reader = request.body?.getReader()
  if (!reader) return chunks
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return chunks
    bytes += value.byteLength
    // A sender may leave out or understate the length, so the bytes themselves are counted too.
    if (bytes > maxBytes) {
      reader.releaseLock()
      throw tooLarge(maxBytes)
    }
    chunks.push(value)
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
