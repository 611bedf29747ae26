import type { CommandOutput } from '../../contract/cli/outputs.ts'
import { AppError } from '../../contract/errors.ts'
import { linked } from '../../contract/linked.ts'
import type { DataCommand } from '../command-module.ts'
import type { Io } from '../io.ts'
import { Feed, type Loaded } from '../watch/feed.ts'
import { runWatch } from '../watch/run-watch.ts'

export const watch: DataCommand<'watch'> = {
  run: async function* (_input, io) {
    if (io.isJson) return yield* snapshots(io)
    if (!io.isTerminal || !process.stdin.isTTY || io.env['TERM'] === 'dumb')
      throw new AppError('invalid', 'there is no terminal to draw on; use sm all, or sm watch --json')
    await runWatch(io, process)
  },
  render: () => '',
}

/** The sessions as they are, and again whenever something about them changed. */
async function* snapshots(io: Io): AsyncGenerator<CommandOutput<'watch'>> {
  const client = await (await io.daemon()).client()
  using stop = linked(io.signal)
  let latest: Loaded | undefined
  let told = ''
  let fresh = Promise.withResolvers<void>()
  const feed = new Feed({
    client,
    signal: stop.signal,
    now: () => io.now(),
    sleep: (ms, signal) => io.sleep(ms, signal),
    loaded: (loaded) => {
      latest = loaded
      fresh.resolve()
    },
    offline: ({ message }) => io.say(`${message}; trying again`),
  })
  const running = feed.run().then(() => fresh.resolve(), fresh.reject)
  try {
    while (!io.signal.aborted) {
      await fresh.promise
      fresh = Promise.withResolvers()
      const sessions = [...(latest?.sessions ?? [])]
      const text = JSON.stringify(sessions)
      if (latest !== undefined && text !== told) yield { sessions, next: null }
      told = text
    }
  } finally {
    stop.abort()
    await running
  }
}
