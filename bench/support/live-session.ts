import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '../../src/client/client.ts'
import { sessionFiles } from '../../src/contract/home.ts'
import { socketName } from '../../src/daemon/home.ts'
import { type DaemonProcess, startDaemonProcess } from '../../test/support/daemon-process.ts'

/** A daemon that can run sessions of a program that does nothing. */
export function startWithSessions(home: string): Promise<DaemonProcess> {
  const config = join(home, 'config.yaml')
  const clis = { light: { command: 'sleep', args: ['infinity'] } }
  writeFileSync(config, JSON.stringify({ clis, limits: { spawns_per_minute: 100_000 } }))
  return startDaemonProcess(home, { env: { MUSTER_CONFIG: config } })
}

/** A session that is alive, and its token; below whoever asks for it. */
export async function liveSession(client: Client, home: string): Promise<{ id: string; token: string }> {
  const one = await client.spawnSession({ agent_type: 'light', prompt: '', working_dir: home })
  const file = join(home, sessionFiles.folder, one.session_id, sessionFiles.token)
  return { id: one.id, token: readFileSync(file, 'utf8').trim() }
}

export async function endWithSessions(daemon: DaemonProcess, home: string): Promise<void> {
  await daemon.kill('SIGTERM')
  spawnSync('tmux', ['-L', socketName(home, ''), 'kill-server'])
}
