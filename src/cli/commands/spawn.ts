import { resolve } from 'node:path'
import type { CommandInput } from '../../contract/cli.ts'
import { errorCodes } from '../../contract/errors.ts'
import type { SessionDetail, SpawnedView, SpawnRequest } from '../../contract/session-views.ts'
import { callerEnvironment } from '../caller-environment.ts'
import type { DataCommand } from '../command-module.ts'
import { currentSession } from '../current-session.ts'
import type { Io } from '../io.ts'
import { parseBudget } from '../parse-budget.ts'
import { renderEnd } from '../render/session-line.ts'
import { renderSpawned } from '../render/spawned.ts'
import { shellWords } from '../shell-words.ts'
import { textInput } from '../text-input.ts'
import { untilReached } from '../until-reached.ts'

const startsInMs = 60_000

export const spawn: DataCommand<'spawn'> = {
  run: async function* (input, io) {
    const request = await requestOf(input, io)
    const client = await (await io.daemon()).client()
    const spawned = await client.spawnSession(request, { signal: io.signal, timeoutMs: startsInMs })
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
}

function isSpawned(data: SpawnedView | SessionDetail): data is SpawnedView {
  return 'attach' in data
}

async function requestOf(input: CommandInput<'spawn'>, io: Io): Promise<SpawnRequest> {
  const { model, preset, name, cli, mode, worktree, isolation } = input
  const parent = input.parent ?? currentSession(io)
  const folder = input['working-dir']
  const budget = parseBudget(input.budget)
  const args = input.args.flatMap(shellWords)
  return {
    agent_type: input['agent-type'],
    prompt: (await textInput(input.prompt, input['prompt-file'], io)) ?? '',
    environment: callerEnvironment(io),
    ...(args.length > 0 && { args }),
    ...(folder !== undefined && { working_dir: resolve(io.cwd, folder) }),
    ...(input['permission-mode'] !== undefined && { permission_mode: input['permission-mode'] }),
    ...(parent !== undefined && { parent }),
    ...(model !== undefined && { model }),
    ...(preset !== undefined && { preset }),
    ...(name !== undefined && { name }),
    ...(cli !== undefined && { cli }),
    ...(mode !== undefined && { mode }),
    ...(worktree !== undefined && { worktree }),
    ...(isolation !== undefined && { isolation }),
    ...(budget !== undefined && { budget }),
    ...(input['dry-run'] && { dry_run: true }),
  }
}
