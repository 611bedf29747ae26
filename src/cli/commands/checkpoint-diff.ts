import { AppError } from '../../contract/errors.ts'
import type { DataCommand } from '../command-module.ts'
import { sessionMeant } from '../current-session.ts'
import { renderMilestoneDiff } from '../render/milestone-diff.ts'

export const checkpointDiff: DataCommand<'checkpoint diff'> = {
  run: async ({ from, to, session }, io) => {
    const id = sessionMeant(session, io)
    const range = { from: numberOf(from), ...(to !== undefined && { to: numberOf(to) }) }
    const client = await (await io.daemon()).client()
    return client.diffCheckpoints({ id, ...range }, { signal: io.signal })
  },
  render: renderMilestoneDiff,
}

function numberOf(word: string): number {
  const number = /^#?([1-9]\d{0,8})$/.exec(word)?.[1]
  if (number === undefined)
    throw new AppError('invalid', `'${word}' is no number of a checkpoint; sm checkpoints lists them`)
  return Number(number)
}
