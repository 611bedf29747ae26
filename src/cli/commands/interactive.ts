import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { CommandOutput } from '../../contract/cli/outputs.ts'
import { AppError } from '../../contract/errors.ts'
import { linked } from '../../contract/linked.ts'
import { attachPlan, runHere } from '../attach-terminal.ts'
import { defineCommands } from '../command-module.ts'
import type { Io } from '../io.ts'
import { textInput } from '../named-files.ts'
import { plural } from '../render/figures.ts'
import { jsonText } from '../render/safe-text.ts'
import { answerData } from '../talk/answer.ts'
import { askCli, chooseAnswerer } from '../talk/ask-cli.ts'
import { askOnce, noAnswer } from '../talk/ask-once.ts'
import { beginSession, shortOf, type Wanted } from '../talk/begin-session.ts'
import { hearAnswer } from '../talk/hear-answer.ts'
import { Feed, type Loaded } from '../watch/feed.ts'

/** Commands that stay: the live screen of all sessions, and speaking with the built-in agents. */
export const interactiveCommands = defineCommands(
  {
    watch: {
      run: async function* (_input, io) {
        if (io.isJson) return yield* snapshots(io)
        if (!io.isTerminal || !process.stdin.isTTY || io.env['TERM'] === 'dumb')
          throw new AppError('invalid', 'sm watch needs a terminal; use sm all, or sm watch --json')
        await (await import('../watch/run-watch.ts')).runWatch(io, process)
      },
      render: () => '',
    },
  },
  {
    ask: {
      text: async function* ({ agent, prompt, session, mode, model, cli, keep, timeout }, io) {
        const text = await textInput(prompt, undefined, io)
        if (text === undefined || text.trim() === '')
          throw new AppError('invalid', 'the prompt is empty; give one, or - to read standard input')
        const client = await (await io.daemon()).client()
        if (session === undefined) {
          const chosen = await chooseAnswerer(client, { agent, model, cli }, io)
          if (chosen.cli !== 'own') {
            yield* askCli(client, { agent, cli: chosen.cli, model, keep, text, timeout }, io)
            return
          }
        } else if (cli !== undefined) throw new AppError('invalid', '--cli is for a new session')
        const asked = { agent, session, mode, model, keep, text, timeout }
        const { begun, answer, ended } = yield* askOnce(client, asked, io)
        if (io.isJson) yield `${jsonText(answerData(begun, answer, ended), 2)}\n`
        if (ended.status !== 'completed') throw noAnswer(begun, ended, timeout)
        if (begun.isNew && keep) io.say(`The session stays open: sm chat --session ${shortOf(begun)}`)
      },
    },
    chat: {
      text: async function* ({ agent, session, model, mode }, io) {
        const wanted = { cwd: io.cwd, agent, session, model, mode }
        if (session === undefined && (await chatsElsewhere(wanted, io))) return
        const isHere = io.isTerminal && process.stdin.isTTY && !io.isJson && io.env['TERM'] !== 'dumb'
        if (isHere) await (await import('../chat/run-chat.ts')).runChat(io, process, wanted)
        else yield* pipeChat(io, process.stdin, wanted)
      },
    },
  },
)

/** Whether a coding CLI is what one talks to here: then its own screen is the chat. */
async function chatsElsewhere({ agent = 'lead', model }: Wanted, io: Io): Promise<boolean> {
  const client = await (await io.daemon()).client()
  const chosen = await chooseAnswerer(client, { agent, model, cli: undefined }, io)
  if (chosen.cli === 'own') return false
  if (!io.isTerminal || !process.stdin.isTTY)
    throw new AppError('failed', `${chosen.why}; to talk to it without a terminal use: sm ask ${agent} -`)
  const { id } = await client.spawnSession(
    { agent_type: agent, cli: chosen.cli, prompt: '', working_dir: io.cwd },
    { signal: io.signal, timeoutMs: startMs },
  )
  const { argv, name } = await client.getAttach({ id }, { signal: io.signal })
  const { way, argv: here } = attachPlan(argv, name, io.env)
  io.say(
    way === 'window'
      ? `${name} opens in a new tmux window; Ctrl-Q leaves it`
      : `Ctrl-Q leaves it; sm attach ${name} returns`,
  )
  await runHere(here, io.env)
  return true
}

const startMs = 60_000

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
      const { sessions = [], hidden = 0 } = latest ?? {}
      const text = JSON.stringify(sessions)
      if (latest !== undefined && text !== told) yield { sessions: [...sessions], next: null, hidden }
      told = text
    }
  } finally {
    stop.abort()
    await running
  }
}

/** Says each line of an input and waits for its answer before the next one. */
export async function* pipeChat(io: Io, input: Readable, wanted: Wanted): AsyncGenerator<string> {
  const client = await (await io.daemon()).client()
  const begun = await beginSession(client, wanted, io.signal)
  const lines = createInterface({ input, signal: io.signal })
  let failed = 0
  for await (const line of lines) {
    const text = line.trim()
    if (text === '') continue
    if (text === '/quit' || text === '/exit') break
    const { answer, ended } = yield* hearAnswer({ client, io, begun, text })
    if (io.isJson) yield `${jsonText(answerData(begun, answer, ended))}\n`
    if (ended.status === 'completed') continue
    failed++
    io.say(`sm: ${begun.agent} ${ended.status}${ended.detail ? `: ${ended.detail}` : ''}`)
    if (io.signal.aborted) break
  }
  io.say(`The session stays open: sm chat --session ${shortOf(begun)}`)
  if (failed > 0) throw new AppError('failed', `${plural(failed, 'message')} got no answer`)
}
