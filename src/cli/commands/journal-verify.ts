import { errorCodes } from '../../contract/errors.ts'
import type { DataCommand } from '../command-module.ts'
import { bytes } from '../render/amounts.ts'
import { renderVerification } from '../render/journal.ts'

export const journalVerify: DataCommand<'journal verify'> = {
  run: async ({ 'set-aside': isCure }, io) => {
    const offline = await io.offline()
    const cured = isCure ? { setAside: [...(await offline.journalSetAside())] } : {}
    const found = await offline.journalVerify((size) => io.progress(`${bytes(size)} checked`), io.signal)
    return { ...found, ...cured }
  },
  render: renderVerification,
  exitCode: ({ ok }) => (ok ? 0 : errorCodes.failed.exit),
}
