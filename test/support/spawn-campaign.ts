import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { socketName } from '../../src/daemon/home.ts'
import { startDaemonProcess } from './daemon-process.ts'
import { seeded } from './random.ts'

export type SpawnFigures = {
  readonly spawns: number
  /** Why each that failed did. */
  readonly failures: readonly string[]
  /** Spawned, and not in the list of all sessions when the answer came. */
  readonly unlisted: number
  readonly medianMs: number
  readonly slowestMs: number
}

type Options = {
  readonly home: string
  readonly spawns: number
  readonly seed: number
  readonly onBatch?: (done: number) => void
}

const mostAtOnce = 8

/** Spawns sessions, some alone and some at once, some below others, each alive and listed when spawn answers; then ends them. */
export async function spawnCampaign({ home, spawns, seed, onBatch }: Options): Promise<SpawnFigures> {
  const config = join(home, 'config.yaml')
  writeFileSync(
    config,
    `clis:
  light: { command: sleep, args: [infinity] }
  shell: { command: bash, args: [--norc] }
limits: { spawns_per_minute: 100000, max_children: 10000, max_descendants: 100000 }
`,
  )
  const env = { MUSTER_CONFIG: config, LANG: 'C.UTF-8', SHELL: '/bin/bash' }
  const daemon = await startDaemonProcess(home, { env })
  const { client } = daemon
  const next = seeded(seed)
  const times: number[] = []
  const failures: string[] = []
  let unlisted = 0
  const one = async (parent: string | undefined) => {
    const agent_type = next() < 0.5 ? 'light' : 'shell'
    const start = performance.now()
    try {
      const where = parent === undefined ? { working_dir: home } : { parent }
      const { id } = await client.spawnSession({ agent_type, prompt: '', ...where })
      times.push(performance.now() - start)
      const { sessions } = await client.listSessions({ open: true, limit: 1000 })
      const found = sessions.find((session) => session.id === id)
      if (!found) unlisted += 1
      else if (!found.is_alive) failures.push(`${id} is ${found.status}`)
      return id
    } catch (error) {
      failures.push(String(error))
      return undefined
    }
  }
  try {
    const root = await one(undefined)
    for (let done = 1; done < spawns; ) {
      const count = Math.min(spawns - done, 1 + Math.floor(next() * mostAtOnce))
      const ids = await Promise.all(Array.from({ length: count }, () => one(next() < 0.3 ? root : undefined)))
      await Promise.all(
        ids.filter((id) => id !== undefined).map((id) => client.killSession({ id, force: true })),
      )
      done += count
      onBatch?.(done)
    }
    const sorted = times.toSorted((a, b) => a - b)
    return {
      spawns,
      failures,
      unlisted,
      medianMs: Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0),
      slowestMs: Math.round(sorted.at(-1) ?? 0),
    }
  } finally {
    await daemon.kill('SIGTERM')
    spawnSync('tmux', ['-L', socketName(home, ''), 'kill-server'])
  }
}
