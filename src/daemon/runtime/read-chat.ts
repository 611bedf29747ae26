import { AppError } from '../../contract/errors.ts'
import { LoopMode } from '../../contract/values.ts'

/** What a person typed: words for an agent, perhaps another than the usual one, or a change of mode. */
export type Chat = { readonly text: string; readonly agent?: string; readonly mode?: LoopMode }

/** Reads `@agent words` and `/mode chat|auto`; everything else is words. */
export function readChat(message: string): Chat {
  const command = /^\/mode(?:\s+(\S+))?\s*$/.exec(message)
  if (command) {
    const mode = LoopMode.safeParse(command[1])
    if (!mode.success) throw new AppError('invalid', 'a mode is chat or auto: /mode chat, /mode auto')
    return { text: '', mode: mode.data }
  }
  const named = /^@([A-Za-z0-9][\w-]{0,63})\s+([\s\S]+)$/.exec(message)
  return named?.[1] && named[2] ? { text: named[2], agent: named[1].toLowerCase() } : { text: message }
}
