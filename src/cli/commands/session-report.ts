import type { CommandOutput } from '../../contract/cli/outputs.ts'
import { AppError, errorCodes } from '../../contract/errors.ts'
import { foreignJson } from '../../contract/formats/foreign-json.ts'
import { defineCommands, type View } from '../command-module.ts'
import { callerSession, sessionMeant } from '../current-session.ts'
import { othersIn } from '../list-sessions.ts'
import { textInput } from '../named-files.ts'
import { given } from '../parse-values.ts'
import { count, duration, money, plural } from '../render/figures.ts'
import { paintedDiff, painter } from '../render/paint.ts'
import { oneLine, plainLines } from '../render/safe-text.ts'
import { isEnded, renderMe, renderOthers, shownName } from '../render/session-lines.ts'

/** What an agent says of its own session, and asks about those around it. */
export const sessionReportCommands = defineCommands({
  me: {
    run: async (_input, io) => {
      const client = await (await io.daemon()).client()
      const known = await client.whoAmI({}, { signal: io.signal })
      if (known.session === null)
        throw new AppError('invalid', 'this is not inside a session; sm all lists them, sm spawn starts one')
      return known
    },
    render: ({ session }) => (session === null ? '' : renderMe(session)),
  },
  who: {
    run: async (_input, io) => {
      const client = await (await io.daemon()).client()
      const self = await callerSession(client, io)
      const parent = self?.parent_session_id ?? undefined
      if (parent === undefined) {
        const folder = self?.working_dir ?? io.cwd
        return { sessions: await othersIn(client, { folder, besides: self }, io.signal) }
      }
      const { children } = await client.listChildren({ id: parent }, { signal: io.signal })
      return { sessions: children.filter((child) => child.id !== self?.id && !isEnded(child)) }
    },
    render: renderOthers,
    exitCode: ({ sessions }) => (sessions.length > 0 ? 0 : errorCodes.failed.exit),
  },
  others: {
    run: async (_input, io) => {
      const client = await (await io.daemon()).client()
      const self = await callerSession(client, io)
      const folder = self?.working_dir ?? io.cwd
      const sessions = await othersIn(client, { folder, besides: self }, io.signal)
      if (sessions.length === 0 && !io.isJson) io.say(`Nobody else works in ${folder}.`)
      return { sessions }
    },
    render: renderOthers,
    exitCode: ({ sessions }) => (sessions.length > 0 ? 0 : errorCodes.failed.exit),
  },
  alone: {
    run: async (_input, io) => {
      try {
        const client = await (await io.daemon()).client()
        const self = await callerSession(client, io)
        const folder = self?.working_dir ?? io.cwd
        const found = await othersIn(client, { folder, besides: self }, io.signal)
        return { alone: found.length === 0 }
      } catch (error) {
        // Who cannot be asked may not be taken for nobody, and a slow daemon knows as little as none.
        if (!(error instanceof AppError) || error.code !== 'timeout') throw error
        throw new AppError('unavailable', error.message, { cause: error })
      }
    },
    render: () => '',
    exitCode: (data) => (data.alone ? 0 : errorCodes.failed.exit),
  },
  checkpoint: {
    asks: ({ message, metadata, session }, io) => ({
      id: sessionMeant(session, io),
      message,
      ...(metadata.length > 0 && { metadata: metadataOf(metadata) }),
    }),
    render: () => 'Checkpoint recorded',
  },
  'checkpoint diff': {
    asks: ({ from, to, session }, io) => ({
      id: sessionMeant(session, io),
      from: numberOf(from),
      ...(to !== undefined && { to: numberOf(to) }),
    }),
    render: renderMilestoneDiff,
  },
  complete: {
    asks: async ({ message, status, session }, io) => ({
      id: sessionMeant(session, io),
      ...given({ message: await textInput(message, undefined, io), status }),
    }),
    render: ({ parent_session_id }, _view, { status = 'completed' }) => {
      const marked = status === 'completed' ? 'complete' : `as ${status}`
      return `Session marked ${marked}.${parent_session_id === null ? '' : ' Notifying parent.'}`
    },
  },
  name: {
    asks: ({ 'name-or-session': first, name: second }, io) => ({
      id: second === undefined ? sessionMeant(undefined, io) : first,
      name: second ?? first,
    }),
    render: (session) => `Session ${session.session_id} is now called ${shownName(session)}`,
  },
  task: {
    asks: ({ text, session }, io) => ({ id: sessionMeant(session, io), task: text === '' ? null : text }),
    render: ({ current_task }) => (current_task === null ? 'Task removed' : 'Task set'),
  },
  lock: {
    asks: ({ text, session }, io) => ({ id: sessionMeant(session, io), lock: text }),
    render: ({ working_dir }) => `${oneLine(`Locked ${working_dir ?? ''}`)}; sm unlock opens it`,
  },
  unlock: {
    asks: ({ session }, io) => ({ id: sessionMeant(session, io), lock: null }),
    render: ({ working_dir }) => oneLine(`Unlocked ${working_dir ?? ''}`),
  },
})

function metadataOf(pairs: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      if (at < 1) throw new AppError('invalid', `--metadata ${pair} has no value; write key=value`)
      return [pair.slice(0, at), valueOf(pair.slice(at + 1))]
    }),
  )
}

/** A value as JSON when it is some, else as the text that it is. */
function valueOf(text: string): unknown {
  const value = foreignJson(text)
  return value === undefined ? text : value
}

function numberOf(word: string): number {
  const number = /^#?([1-9]\d{0,8})$/.exec(word)?.[1]
  if (number === undefined)
    throw new AppError('invalid', `'${word}' is not the number of a milestone; sm checkpoints lists them`)
  return Number(number)
}

/** What changed between two milestones: figures, files, then the difference itself. */
export function renderMilestoneDiff(diff: CommandOutput<'checkpoint diff'>, { color }: View): string {
  const paint = painter(color)
  const { from, to, files, tokens, cost_usd, seconds } = diff
  const figures = [
    duration(seconds),
    ...(tokens === null ? [] : [`${count(tokens)} tokens`]),
    ...(cost_usd === null ? [] : [money(cost_usd)]),
    plural(files.length, 'file'),
  ].join(', ')
  const end = to === null ? 'now' : `${to.number} "${oneLine(to.message)}"`
  return [
    `${from.number} "${oneLine(from.message)}" → ${end}: ${figures}`,
    ...files.map(({ path, change, added, removed }) => {
      const lines = added === null || removed === null ? '' : ` +${count(added)} -${count(removed)}`
      return `  ${oneLine(change)} ${oneLine(path)}${lines}`
    }),
    ...(diff.diff === ''
      ? []
      : [
          '',
          ...plainLines(diff.diff)
            .trimEnd()
            .split('\n')
            .map((line) => paintedDiff(line, paint)),
        ]),
  ].join('\n')
}
