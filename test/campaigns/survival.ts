/** kill -9 of the daemon with many sessions, all accounted for in time: `npm run campaign survival -- --runs 5 --sessions 50`. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { socketName } from '../../src/daemon/home.ts'
import { startDaemonProcess } from '../support/daemon-process.ts'
import { accountFor } from '../support/survival.ts'

const runs = Number(process.env['MUSTER_CAMPAIGN_RUNS'] ?? 3)
const sessions = Number(process.env['MUSTER_CAMPAIGN_SESSIONS'] ?? 50)
const boundMs = 5000

for (let run = 1; run <= runs; run++) {
  const home = mkdtempSync(join(tmpdir(), 'muster-survival-'))
  const config = join(home, 'config.yaml')
  writeFileSync(
    config,
    'clis: { shell: { command: bash, args: [--norc, --noprofile] } }\nlimits: { spawns_per_minute: 10000 }\n',
  )
  const env = { MUSTER_CONFIG: config, LANG: 'C.UTF-8', SHELL: '/bin/bash' }
  const socket = socketName(home, '')
  const tmux = (...args: string[]) => spawnSync('tmux', ['-L', socket, ...args], { encoding: 'utf8' }).stdout
  let daemon = await startDaemonProcess(home, { env })
  try {
    const began = { at: 0 }
    let ms = 0
    const counts = await accountFor(
      {
        get client() {
          return daemon.client
        },
        get daemon() {
          return daemon
        },
        tmux,
        spawnShell: () => daemon.client.spawnSession({ agent_type: 'shell', prompt: '', working_dir: home }),
        async restart() {
          await daemon.kill('SIGKILL')
          began.at = performance.now()
          daemon = await startDaemonProcess(home, { env })
        },
      },
      sessions,
      () => {
        ms = performance.now() - began.at
      },
    )
    const gone = Math.floor(sessions * 0.3)
    console.log(`run ${run}: ${JSON.stringify(counts)} in ${Math.round(ms)} ms from the start of the daemon`)
    if (counts['running'] !== sessions - gone || counts['gone'] !== gone)
      throw new Error('some are not as they were')
    if (ms > boundMs) throw new Error(`it took more than ${boundMs} ms`)
  } finally {
    await daemon.kill('SIGTERM')
    tmux('kill-server')
    rmSync(home, { recursive: true, force: true })
  }
}
