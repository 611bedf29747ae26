import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AgentEvent, catalogue, type EventType } from '../../src/contract/event.ts'
import { type DaemonProcess, isIndexing, startDaemonProcess } from './daemon-process.ts'
import { recordingModel } from './recording-model.ts'

export type RunRecord = {
  readonly run_id: string
  readonly session_id: string
  readonly agent_id: string
  readonly status: string
  readonly detail?: string
  readonly parent_run_id?: string
}

const agentFile = (kind: string) =>
  `---\nkind: ${kind}\ntools: ["*"]\npolicy: [Patch, Finalize, Delegate]\n---\nWork.\n`

/** A real daemon whose built-in agents ask a model that outlives it, so that it can be killed at any moment. */
export async function ownDaemon(
  folder: string,
  options: { readonly runtime?: string; readonly isBuilt?: boolean } = {},
) {
  const home = join(folder, 'home')
  // Commands of agents see nothing of the home, so the project lies beside it.
  const project = join(folder, 'project')
  const agents = join(home, '.config/muster/agents')
  for (const dir of [project, agents]) mkdirSync(dir, { recursive: true, mode: 0o700 })
  for (const [name, kind] of [
    ['boss', 'main'],
    ['maker', 'main'],
    ['helper', 'subagent'],
  ] as const)
    writeFileSync(join(agents, `${name}.md`), agentFile(kind))
  const model = await recordingModel()
  const config = join(home, 'config.yaml')
  const configure = (runtime: string) =>
    writeFileSync(
      config,
      `runtime: ${runtime}
models:
  default: rec/scripted
  retry: { first_ms: 10, longest_ms: 50 }
  providers:
    slow: { protocol: compatible, base_url: "${model.url}/slow/v1" }
    rec: { protocol: anthropic, base_url: "${model.url}/v1", key_env: REC_KEY, models: [scripted] }
`,
    )
  configure(options.runtime ?? '{}')
  const env = { MUSTER_CONFIG: config, REC_KEY: 'rec-key' }
  const start = () => startDaemonProcess(home, { env, isBuilt: options.isBuilt ?? false })
  let daemon: DaemonProcess = await start()
  const ask = async (path: string, body?: object): Promise<{ status: number; body: unknown }> => {
    for (;;) {
      const answer = await fetch(`${daemon.url}${path}`, {
        headers: { authorization: `Bearer ${daemon.token}`, 'content-type': 'application/json' },
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      })
      const text = await answer.text()
      if (answer.status !== 503 || !isIndexing(text))
        return { status: answer.status, body: JSON.parse(text) as unknown }
      await sleep(20)
    }
  }
  const events = async (): Promise<AgentEvent[]> => {
    const all: AgentEvent[] = []
    for (;;) {
      const page = await daemon.client.listEvents({ after: all.at(-1)?.seq ?? 0, limit: 1000 })
      if (page.events.length === 0) return all
      all.push(...(page.events as AgentEvent[]))
    }
  }
  return {
    home,
    project,
    asked: model.asked,
    held: model.held,
    ask,
    events,
    /** The settings of the runtime from the next start on. */
    configure,
    get daemon() {
      return daemon
    },
    async say(message: string, more: object = {}): Promise<{ session_id: string; message_id: string }> {
      const { status, body } = await ask('/api/chat', {
        project_root: project,
        agent_id: 'boss',
        message,
        ...more,
      })
      if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
      return body as { session_id: string; message_id: string }
    },
    runs: async (): Promise<RunRecord[]> => (await ask('/api/agent-runs')).body as RunRecord[],
    /** Ends the daemon, and starts another on the same home after what is done in between. */
    async restart(signal: NodeJS.Signals, between: () => void | Promise<void> = () => {}) {
      await daemon.kill(signal)
      await between()
      daemon = await start()
    },
    /** Waits until a type was written so often, and answers all of it. */
    async until<T extends EventType>(type: T, count = 1): Promise<Extract<AgentEvent, { type: T }>[]> {
      const deadline = performance.now() + 120_000
      for (;;) {
        const all = await events()
        const found = all.filter((event): event is Extract<AgentEvent, { type: T }> => event.type === type)
        if (found.length >= count) return found
        if (performance.now() > deadline)
          throw new Error(
            `${found.length} of ${count} ${type}\n${all.map(lineOf).join('\n')}\n${daemon.log()}`,
          )
        await sleep(30)
      }
    },
    async close() {
      await daemon.kill('SIGKILL')
      await model.close()
    },
  }
}

const lineOf = ({ seq, type, actor, payload }: AgentEvent) =>
  `${seq} ${type} ${actor} ${JSON.stringify(payload).slice(0, 200)}`

/** What must hold of every journal of built-in agents: one end for each run and span, and none open below an ended one. */
export function journalFaults(events: readonly AgentEvent[]): string[] {
  const faults: string[] = []
  const open = new Map<string, AgentEvent>()
  const ends = new Map<string, number>()
  for (const event of events) {
    const { type, runId, spanId, seq } = event
    const role = catalogue[type].span
    if (type === 'agent.spawned' && ends.has(runId)) faults.push(`${seq}: ${runId} begins again`)
    if (type === 'agent.spawned') ends.set(runId, 0)
    if (role === 'start') open.set(spanId, event)
    if (role !== 'end') continue
    if (open.get(spanId)?.type === 'agent.spawned') ends.set(runId, (ends.get(runId) ?? 0) + 1)
    if (!open.delete(spanId) && type !== 'tool.call.denied') faults.push(`${seq}: ${type} ends nothing`)
    const below = [...open.values()].find(({ parentSpanId }) => parentSpanId === spanId)
    if (below) faults.push(`${seq}: ${type}, and ${below.type} (${below.seq}) is open below it`)
  }
  for (const [runId, count] of ends) if (count !== 1) faults.push(`${runId} has ${count} ends`)
  for (const { type, seq } of open.values())
    if (type !== 'session.started' && type !== 'message.queued') faults.push(`${seq}: ${type} is open`)
  return faults
}
