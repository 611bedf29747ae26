import { AppError } from '../../contract/errors.ts'
import type { DataCommand } from '../command-module.ts'
import { sessionMeant } from '../current-session.ts'

export const checkpoint: DataCommand<'checkpoint'> = {
  run: async ({ message, metadata, session }, io) => {
    const id = sessionMeant(session, io)
    const facts = metadataOf(metadata)
    const client = await (await io.daemon()).client()
    return client.addCheckpoint(
      { id, message, ...(metadata.length > 0 && { metadata: facts }) },
      { signal: io.signal },
    )
  },
  render: () => 'Checkpoint recorded',
}

function metadataOf(pairs: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      if (at < 1) throw new AppError('invalid', `--metadata ${pair} has no value; write key=value`)
      return [pair.slice(0, at), valueOf(pair.slice(at + 1))]
    }),
  )
}

/** A value as JSON when it is some, else as the text that it is. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    if (error instanceof SyntaxError) return text
    throw error
  }
}
