import type { DataCommand } from '../command-module.ts'
import { readNamedFile } from '../read-file.ts'
import { renderRedaction } from '../render/redaction.ts'

export const redactTest: DataCommand<'redact test'> = {
  run: async ({ file }, io) => {
    const text = await readNamedFile(file, io.signal)
    return (await io.offline()).redactTest(text, io.signal)
  },
  render: renderRedaction,
}
