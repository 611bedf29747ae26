import { pipeChat } from '../chat/pipe-chat.ts'
import { runChat } from '../chat/run-chat.ts'
import type { TextCommand } from '../command-module.ts'

export const chat: TextCommand<'chat'> = {
  text: async function* ({ agent, session, model, mode }, io) {
    const wanted = { cwd: io.cwd, agent, session, model, mode }
    const isHere = io.isTerminal && process.stdin.isTTY && !io.isJson && io.env['TERM'] !== 'dumb'
    if (isHere) await runChat(io, process, wanted)
    else yield* pipeChat(io, process.stdin, wanted)
  },
}
