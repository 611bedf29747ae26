import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib'
import { AppError } from '../../../contract/errors.ts'

const mostBytes = 64 * 1024 * 1024

/** The text of a request's body, uncompressed. */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > mostBytes) throw tooLarge()
    chunks.push(chunk)
  }
  const bytes = Buffer.concat(chunks)
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (encoding === 'identity') return bytes.toString('utf8')
  const decompress = decompressors[encoding]
  if (decompress === undefined) throw new AppError('unsupported_media', `bodies in ${encoding} are not read`)
  return decompress(bytes).then(
    (text) => text.toString('utf8'),
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge()
      throw new AppError('invalid', `the body is not in ${encoding}, as its header says`, { cause: error })
    },
  )
}

const bounded = { maxOutputLength: mostBytes }
const decompressors: Readonly<Record<string, (bytes: Buffer) => Promise<Buffer>>> = {
  gzip: (bytes) => promisify(gunzip)(bytes, bounded),
  deflate: (bytes) => promisify(inflate)(bytes, bounded),
  br: (bytes) => promisify(brotliDecompress)(bytes, bounded),
  zstd: (bytes) => promisify(zstdDecompress)(bytes, bounded),
}

const tooLarge = () => new AppError('too_large', `a body has at most ${mostBytes} bytes`)
