import type { TextCommand } from '../command-module.ts'

const chunkSize = 64 * 1024

export const journalExport: TextCommand<'journal export'> = {
  text: async function* ({ after, type, session }, io) {
    const offline = await io.offline()
    let chunk = ''
    for await (const line of offline.journalExport({ after, types: type, session }, io.signal)) {
      chunk += `${line}\n`
      if (chunk.length < chunkSize) continue
      yield chunk
      chunk = ''
    }
    if (chunk !== '') yield chunk
  },
}
