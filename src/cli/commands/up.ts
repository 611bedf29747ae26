import type { CommandOutput } from '../../contract/cli/outputs.ts'
import type { Health } from '../../contract/health.ts'
import { version } from '../../contract/version.ts'
import type { DataCommand } from '../command-module.ts'
import type { Io } from '../io.ts'
import { renderUp } from '../render/daemon-status.ts'
import { runInForeground } from '../run-in-foreground.ts'
import { sshForward } from '../ssh-forward.ts'

export const up: DataCommand<'up'> = {
  run: ({ foreground, replace }, io) => (foreground ? inForeground(replace, io) : inBackground(replace, io)),
  render: renderUp,
}

async function inBackground(replace: boolean, io: Io): Promise<CommandOutput<'up'>> {
  const daemon = await io.daemon()
  if (replace) await daemon.stop()
  const { health, started } = await daemon.start()
  if (health.version !== version) {
    io.say(
      `the running daemon is version ${health.version}, this is ${version}; hand over with: sm up --replace`,
    )
  }
  return describe(health, started, io)
}

async function* inForeground(replace: boolean, io: Io): AsyncGenerator<CommandOutput<'up'>> {
  const daemon = await io.daemon()
  if (replace) await daemon.stop()
  yield* runInForeground(daemon, io, (health) => describe(health, true, io))
}

function describe(health: Health, started: boolean, io: Io): CommandOutput<'up'> {
  const { url, pid, home } = health
  const forward = sshForward(url, io.env)
  return { url, pid, version: health.version, home, started, ...(forward === undefined ? {} : { forward }) }
}
