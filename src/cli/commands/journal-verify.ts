import { errorCodes } from '../../contract/errors.ts'
import type { DataCommand } from '../command-module.ts'
import { bytes } from '../render/amounts.ts'
import { renderVerification } from '../render/journal.ts'

export const journalVerify: DataCommand<'journal verify'> = {
  run: async (_input, io) => {
    const offline = await io.offline()
    return offline.journalVerify((size) => io.progress(`${bytes(size)} checked`), io.signal)
  },
  render: renderVerification,
  exitCode: ({ ok }) => (ok ? 0 : errorCodes.failed.exit),
}
