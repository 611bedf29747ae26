import { AppError } from '../contract/errors.ts'
import { jsonErrorAt } from './json-error-at.ts'

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
      void discard(reader)
      throw tooLarge(maxBytes)
    }
    chunks.push(value)
  }
}

/** The sender reads its answer when it has sent all: to cut it off would lose the answer. */
async function discard(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  try {
    while (!(await reader.read()).done);
  } catch {
    // It hung up, or its time was over.
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
    const position = jsonErrorAt(text)
    const before = text.slice(0, position)
    const line = before.split('\n').length
    const column = position - before.lastIndexOf('\n')
    throw new AppError('invalid', `the body is not JSON: see line ${line}, column ${column}`, {
      details: { position, line, column },
    })
  }
}

const tooLarge = (maxBytes: number): AppError =>
  new AppError('too_large', `the body is over ${maxBytes} bytes; send it in smaller parts`)
