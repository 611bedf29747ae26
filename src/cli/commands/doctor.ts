import type { Client } from '../../client/client.ts'
import { AppError, errorCodes } from '../../contract/errors.ts'
import type { Check } from '../../contract/health.ts'
import type { DoctorReport } from '../../contract/offline.ts'
import type { DataCommand } from '../command-module.ts'
import type { Io } from '../io.ts'
import { renderChecks } from '../render/checks.ts'

export const doctor: DataCommand<'doctor'> = {
  run: async (_input, io) => {
    const [seen, checks] = await Promise.all([askDaemon(io), (await io.offline()).doctor(io.signal)])
    // What both looked at is told once, by the daemon: it sees its own journal from inside.
    const own = checks.filter(({ name }) => seen.checks.every((check) => check.name !== name))
    return { daemon: seen.daemon, checks: [...own, ...seen.checks] }
  },
  render: renderChecks,
  exitCode: ({ checks }) => (checks.some(({ status }) => status === 'failed') ? errorCodes.failed.exit : 0),
}

// The doctor never starts a daemon, and one that is ill must not keep the rest from being looked at.
async function askDaemon(io: Io): Promise<DoctorReport> {
  const daemon = await io.daemon()
  const { state } = await daemon.probe()
  if (state === 'slow') return slow
  if (state === 'down') return { daemon: 'stopped', checks: [] }
  try {
    const client = await daemon.running()
    const report = await client?.doctor({}, { signal: io.signal, timeoutMs: 5000 })
    if (client === undefined || report === undefined) return { daemon: 'stopped', checks: [] }
    return { daemon: 'running', checks: [...report.checks, ...(await checkSessions(client, io))] }
  } catch (error) {
    if (error instanceof AppError && error.code === 'timeout') return slow
    throw error
  }
}

// It opens a terminal, asks programs and waits for shells to read their start-up files; only a person may have it done.
async function checkSessions(client: Client, io: Io): Promise<readonly Check[]> {
  try {
    const { checks } = await client.checkSessions({}, { signal: io.signal, timeoutMs: 90_000 })
    return checks
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'timeout') throw error
    const isOurs = error.code === 'denied' || error.code === 'unauthenticated'
    return isOurs ? [] : [{ name: 'sessions', status: 'failed', detail: error.message }]
  }
}

const slow: DoctorReport = {
  daemon: 'slow',
  checks: [
    {
      name: 'daemon',
      status: 'failed',
      detail: 'it accepts connections but does not answer',
      cure: 'wait a moment; if it stays so, restart it with sm up --replace and keep its log',
    },
  ],
}
