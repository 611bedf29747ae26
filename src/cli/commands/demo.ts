import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '../../client/client.ts'
import type { CommandOutput } from '../../contract/cli/outputs.ts'
import { demonstrationFolder, demonstrationPrompt } from '../../contract/demonstration.ts'
import { AppError, errorCodes } from '../../contract/errors.ts'
import type { DataCommand } from '../command-module.ts'
import { makeProject } from '../demo/make-project.ts'
import type { Io } from '../io.ts'
import { renderDemo } from '../render/demo.ts'
import { answerData } from '../talk/answer-data.ts'
import { beginSession } from '../talk/begin-session.ts'
import { hearAnswer } from '../talk/hear-answer.ts'

const longestSeconds = 120
const readingMs = 10_000

export const demo: DataCommand<'demo'> = {
  run: async ({ once }, io) => {
    const daemon = await io.daemon()
    const client = await daemon.client()
    const first = join(daemon.home, demonstrationFolder)
    const folder = freeFolder(first)
    if (once && (folder !== first || (await hasHistory(client, io)))) return { answer: null, folder: first }
    await makeProject(daemon.home, folder)
    return { answer: await played(client, folder, io), folder }
  },
  render: renderDemo,
  exitCode: ({ answer }) => (answer === null || isGood(answer) ? 0 : errorCodes.failed.exit),
}

/** The words are a script's; whether the test passed is what the tools say. */
const isGood = ({ status, tools }: NonNullable<CommandOutput<'demo'>['answer']>): boolean =>
  status === 'completed' && tools.at(-1)?.tool === 'Bash' && tools.at(-1)?.status === 'completed'

function freeFolder(first: string): string {
  let folder = first
  for (let n = 2; existsSync(folder); n++) folder = `${first}-${n}`
  return folder
}

/** Whether anything is known here; a daemon that has just been started may have to read its journal first. */
async function hasHistory(client: Client, io: Io): Promise<boolean> {
  const until = io.now() + readingMs
  while (true) {
    try {
      return (await client.listSessions({ limit: 1 }, { signal: io.signal })).sessions.length > 0
    } catch (error) {
      const isReading = error instanceof AppError && error.code === 'unavailable'
      if (!isReading || io.now() > until) throw error
      await io.sleep(100)
    }
  }
}

/** One task for the shipped coder, on the scripted model whatever keys there are. */
async function played(client: Client, folder: string, io: Io): Promise<CommandOutput<'demo'>['answer']> {
  const wanted = { cwd: folder, agent: 'coder', session: undefined, mode: 'auto', model: 'scripted' } as const
  const begun = await beginSession(client, wanted, io.signal)
  const silent: Io = { ...io, isJson: true, cwd: folder }
  const words = hearAnswer({ client, io: silent, begun, text: demonstrationPrompt, timeout: longestSeconds })
  let read = await words.next()
  while (!read.done) read = await words.next()
  return answerData(begun, read.value.answer, read.value.ended)
}
