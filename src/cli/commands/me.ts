import { AppError } from '../../contract/errors.ts'
import type { DataCommand } from '../command-module.ts'
import { renderMe } from '../render/workspace-status.ts'

export const me: DataCommand<'me'> = {
  run: async (_input, io) => {
    const client = await (await io.daemon()).client()
    const known = await client.whoAmI({}, { signal: io.signal })
    if (known.session === null)
      throw new AppError('invalid', 'this is not inside a session; sm all lists them, sm spawn starts one')
    return known
  },
  render: ({ session }) => (session === null ? '' : renderMe(session)),
}
