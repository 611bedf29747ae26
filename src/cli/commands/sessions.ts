import { resolve } from 'node:path'
import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { CommandInput } from '../../contract/cli.ts'
import { AppError, errorCodes } from '../../contract/errors.ts'
import type {
  SessionDetail,
  SessionView,
  SpawnedView,
  SpawnRequest,
  SuspectView,
  UnsavedView,
} from '../../contract/session-views.ts'
import { attachPlan, runHere } from '../attach-terminal.ts'
import { defineCommands, type View } from '../command-module.ts'
import { callerEnvironment, currentSession } from '../current-session.ts'
import type { Io } from '../io.ts'
import { textInput } from '../named-files.ts'
import { given, parseBudget } from '../parse-values.ts'
import { budgetText } from '../render/figures.ts'
import { type Colour, painter } from '../render/paint.ts'
import { oneLine, shellQuote } from '../render/safe-text.ts'
import { isEnded, renderDoomed, renderEnd, renderKilled, titleOf } from '../render/session-lines.ts'
import { terms } from '../render/table.ts'
import { pad, textWidth, wrap } from '../render/text-width.ts'
import { shellWords } from '../shell-words.ts'
import { untilReached } from '../until-reached.ts'
import { messageCommands } from './messages.ts'

const startMs = 60_000
// Ending a session takes its grace period, and there may be a tree of them.
const killMs = 120_000
const restoreMs = 300_000

/** Starting, steering and ending sessions; speaking with them is in `messages.ts`. */
export const sessionCommands = {
  ...messageCommands,
  ...defineCommands({
    spawn: {
      run: async function* (input, io) {
        const request = await requestOf(input, io)
        const client = await (await io.daemon()).client()
        const spawned = await client.spawnSession(request, { signal: io.signal, timeoutMs: startMs })
        for (const warning of spawned.warnings) io.say(`warning: ${warning}`)
        yield spawned
        if (input.wait === undefined || spawned.dry_run !== null) return
        const timeoutMs = input.wait === 0 ? undefined : input.wait * 1000
        yield* untilReached(client, { sessions: [spawned.id], goal: 'complete', isAny: false, timeoutMs }, io)
      },
      render: (data, view, { quiet }) => {
        if (!isSpawned(data)) return quiet ? '' : renderEnd(data, view)
        return quiet ? data.session_id : renderSpawned(data, view)
      },
      exitCode: (data) => (isSpawned(data) || data.status === 'completed' ? 0 : errorCodes.failed.exit),
    },
    interrupt: {
      run: async function* ({ sessions }, io) {
        const client = await (await io.daemon()).client()
        const refused: unknown[] = []
        for (const id of sessions) {
          try {
            yield await client.interruptSession({ id }, { signal: io.signal })
          } catch (error) {
            // The others are stopped all the same.
            if (!(error instanceof AppError) || error.code === 'unavailable') throw error
            if (refused.push(error) > 1) io.say(`sm: ${error.message}`)
          }
        }
        if (refused.length > 0) throw refused[0]
      },
      render: (session) => `Interrupted ${titleOf(session)}`,
    },
    kill: {
      run: async ({ sessions, force, reason }, io) => {
        const client = await (await io.daemon()).client()
        // All are looked up first: a mistyped one must not leave half of them dead.
        const found = await Promise.all(
          sessions.map((id) => client.listUnsaved({ id }, { signal: io.signal })),
        )
        const doomed = new Map<string, UnsavedView>()
        for (const one of found.flatMap((answer) => answer.sessions)) doomed.set(one.session.id, one)
        for (const line of renderDoomed([...doomed.values()], io.now())) io.say(line)
        const hasUnsaved = [...doomed.values()].some(({ unsaved }) => unsaved.length > 0)
        if (hasUnsaved && !force && io.canAsk && !(await io.confirm('End it anyway?')))
          throw new AppError('conflict', 'nothing was ended')
        const killed = new Map<string, SessionView>()
        const left = new Set<number>()
        const suspects = new Map<number, SuspectView>()
        for (const [i, id] of sessions.entries()) {
          const whole = found[i]?.sessions[0]?.session.id ?? id
          // A descendant of one that was just ended is among the dead already.
          if (killed.has(whole)) continue
          const ended = await client.killSession(
            { id: whole, ...given({ force, reason }) },
            { signal: io.signal, timeoutMs: killMs },
          )
          for (const session of ended.killed) killed.set(session.id, session)
          for (const pid of ended.left) left.add(pid)
          for (const suspect of ended.suspects ?? []) suspects.set(suspect.pid, suspect)
        }
        return { killed: [...killed.values()], left: [...left], suspects: [...suspects.values()] }
      },
      render: renderKilled,
      exitCode: ({ left }) => (left.length === 0 ? 0 : errorCodes.failed.exit),
    },
    budget: {
      asks: ({ session, amounts }) => {
        const budget = parseBudget(amounts)
        if (!budget) throw new AppError('invalid', 'say how much: 200k or 1.5m tokens, or 5usd')
        return { id: session, budget }
      },
      render: (session) => `${titleOf(session)} may use ${budgetText(session.budget ?? {})}`,
    },
    attach: {
      run: async ({ session, print }, io) => {
        const client = await (await io.daemon()).client()
        const attached = await client.getAttach({ id: session }, { signal: io.signal })
        if (print || io.isJson) return attached
        const { way, argv } = attachPlan(attached.argv, attached.name, io.env)
        if (!io.isTerminal && way === 'here')
          throw new AppError('invalid', 'there is no terminal here; use sm tail or sm output, or --print')
        if (way === 'window') io.say(`${attached.name} opens in a new tmux window; Ctrl-Q leaves it`)
        await runHere(argv, io.env)
        return attached
      },
      render: ({ argv }, _view, { print }) => (print ? shellQuote(argv) : ''),
    },
    wait: {
      run: async function* ({ sessions, for: goal = 'complete', timeout, any }, io) {
        const client = await (await io.daemon()).client()
        const timeoutMs = timeout === undefined ? undefined : timeout * 1000
        yield* untilReached(client, { sessions, goal, isAny: any, timeoutMs }, io)
      },
      render: renderEnd,
      exitCode: (session) =>
        session.status === 'failed' || (isEnded(session) && session.status !== 'completed')
          ? errorCodes.failed.exit
          : 0,
    },
    resume: {
      asks: ({ session }) => ({ id: session }),
      timeoutMs: startMs,
      render: (session) => `Resumed ${titleOf(session)} in tmux session ${session.tmux_session ?? 'unknown'}`,
    },
    restore: {
      run: async ({ 'dry-run': isDry }, io) => {
        const daemon = await io.daemon()
        const client = isDry ? await daemon.running() : await daemon.client()
        // Its start would bring sessions back, which is just what was not asked for.
        if (client === undefined)
          throw new AppError(
            'unavailable',
            'the daemon is not running; starting it restores the sessions: sm up',
          )
        return client.restoreSessions(isDry ? { dry_run: true } : {}, {
          signal: io.signal,
          timeoutMs: restoreMs,
        })
      },
      render: renderRestored,
      exitCode: ({ sessions }) =>
        sessions.every(({ result }) => result === 'running' || result === 'restored')
          ? 0
          : errorCodes.failed.exit,
    },
    adopt: {
      asks: ({ session, parent }, io) => ({
        id: session,
        environment: callerEnvironment(io),
        ...given({ parent: parent ?? currentSession(io) }),
      }),
      timeoutMs: startMs,
      render: (session) => {
        const under = session.parent_session_id
        const place = session.tmux_session === null ? '' : `, in tmux session ${session.tmux_session}`
        return `${titleOf(session)} ${under === null ? 'no longer has a parent' : `is a child of ${under} now`}${place}`
      },
    },
  }),
}

function isSpawned(data: SpawnedView | SessionDetail): data is SpawnedView {
  return 'attach' in data
}

async function requestOf(input: CommandInput<'spawn'>, io: Io): Promise<SpawnRequest> {
  const { model, preset, name, cli, mode, worktree, isolation } = input
  const folder = input['working-dir']
  const args = input.args.flatMap(shellWords)
  return {
    agent_type: input['agent-type'],
    prompt: (await textInput(input.prompt, input['prompt-file'], io)) ?? '',
    environment: callerEnvironment(io),
    ...given({ model, preset, name, cli, mode, worktree, isolation }),
    ...given({
      args: args.length > 0 && args,
      working_dir: folder === undefined ? undefined : resolve(io.cwd, folder),
      permission_mode: input['permission-mode'],
      parent: input.parent ?? currentSession(io),
      budget: parseBudget(input.budget),
      dry_run: input['dry-run'],
    }),
  }
}

const colours: Readonly<Record<string, Colour>> = {
  running: 'green',
  restored: 'green',
  'needs you': 'yellow',
  gone: 'red',
}

/** What was started and how to see it, or what would have been. */
export function renderSpawned(spawned: SpawnedView, { color }: { readonly color: boolean }): string {
  const paint = painter(color)
  const { tmux_session, attach, dry_run, permission_mode, worktree } = spawned
  const isBypass = permission_mode === 'bypass'
  if (dry_run === null) {
    const note = isBypass ? ` ${paint('red', '(asks for nothing: permission mode bypass)')}` : ''
    return [
      `Spawned ${titleOf(spawned)} in tmux session ${tmux_session}`,
      ...(worktree === null ? [] : [oneLine(`Work tree: ${worktree.path} on branch ${worktree.branch}`)]),
      `Attach with: ${oneLine(attach)}${note}`,
    ].join('\n')
  }
  const rows = [
    ['command', shellQuote(dry_run.argv)],
    ['folder', spawned.working_dir],
    ...(worktree === null ? [] : [['branch', `${worktree.branch}, in its own work tree`] as const]),
    ['parent', spawned.parent_session_id ?? 'none'],
    ['cli', spawned.cli],
    ['model', spawned.model ?? 'its own default'],
    ['permissions', isBypass ? paint('red', permission_mode) : permission_mode],
    ['isolation', spawned.isolation],
    ['environment', dry_run.environment.join(' ')],
  ] as const
  return [
    `Nothing was started. It would be ${titleOf(spawned)} in tmux session ${tmux_session}`,
    ...terms(rows),
  ].join('\n')
}

/** What became of each session, and why. */
export function renderRestored({ sessions }: CommandOutput<'restore'>, { width, color }: View): string {
  const paint = painter(color)
  if (sessions.length === 0) return 'Nothing to restore.'
  const titles = sessions.map(({ name, session_id }) => `${oneLine(name)} (${session_id})`)
  const titleWidth = Math.max(...titles.map(textWidth))
  const indent = titleWidth + 2 + 9 + 2
  const lines = sessions.flatMap(({ result, why }, i) => {
    const [first = '', ...rest] = wrap(oneLine(why), Math.max(20, width - indent))
    const head = `${pad(titles[i] ?? '', titleWidth)}  ${pad(paint(colours[result] ?? 'dim', result), 9)}  ${first}`
    return [head.trimEnd(), ...rest.map((line) => `${' '.repeat(indent)}${line}`)]
  })
  const totals = Object.keys(colours).flatMap((result) => {
    const found = sessions.filter((session) => session.result === result).length
    return found === 0 ? [] : [`${found} ${result}`]
  })
  return [...lines, '', `${totals.join(', ')}.`].join('\n')
}
