import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AgentEvent } from '../../src/contract/event.ts'
import { call, script } from './own-agents.ts'
import { journalFaults, ownDaemon } from './own-daemon.ts'
import { seeded } from './random.ts'

export type OwnAgentsFigures = {
  readonly kills: number
  readonly messages: number
  readonly taken: number
  readonly runs: number
  readonly resumed: number
  readonly cutOff: number
  readonly marks: number
  readonly faults: readonly string[]
}

const talkers = 4
const settleMs = 120_000

type Own = Awaited<ReturnType<typeof ownDaemon>>

/**
 * People talk to built-in agents that delegate and run commands, while the daemon is killed again and again and each
 * new one fails or resumes what it finds. In the end every message was taken once, each run has one end, no span is
 * open below an ended one, and no command ran twice.
 */
export async function ownAgentsCampaign(options: {
  readonly folder: string
  readonly kills: number
  readonly seed: number
  readonly say?: (line: string) => void
}): Promise<OwnAgentsFigures> {
  const random = seeded(options.seed)
  const own = await ownDaemon(options.folder)
  mkdirSync(join(own.project, 'marks'))
  const sessions: string[] = []
  const sent = new Set<string>()
  let resumed = 0
  let n = 0
  try {
    for (let kill = 1; kill <= options.kills; kill++) {
      const stop = new AbortController()
      const talking = Array.from({ length: talkers }, (_, i) =>
        talk(own, { signal: stop.signal, random, sessions, at: i, next: () => `${n++}`, sent }),
      )
      // By what was said, not by time: there is work under way however fast the machine is.
      const enough = sent.size + 1 + random() ** 2 * 12
      while (sent.size < enough) await sleep(5)
      await sleep(random() * 300)
      const isResumed = random() < 0.5
      if (isResumed) resumed += 1
      stop.abort()
      await own.restart(random() < 0.8 ? 'SIGKILL' : 'SIGTERM', () =>
        own.configure(`{ on_restart: ${isResumed ? 'resume' : 'fail'} }`),
      )
      await Promise.all(talking)
      options.say?.(`kill ${kill} (${isResumed ? 'resume' : 'fail'}): ${sent.size} messages`)
    }
    const events = await settled(own)
    const marks = readdirSync(join(own.project, 'marks'))
    return {
      kills: options.kills,
      messages: sent.size,
      resumed,
      ...counted(events),
      marks: marks.length,
      faults: [
        ...journalFaults(events),
        ...messageFaults(events, sent),
        ...marks.flatMap((name) => twice(join(own.project, 'marks', name))),
        ...(own.daemon.log().match(/"level":(?:50|60)[^\n]*/g) ?? []),
      ],
    }
  } finally {
    await own.close()
  }
}

type Talk = {
  readonly signal: AbortSignal
  readonly random: () => number
  readonly sessions: string[]
  readonly at: number
  readonly next: () => string
  readonly sent: Set<string>
}

/** One person: says something to a session, does not wait for its end, and goes on until the daemon is gone. */
async function talk(own: Own, { signal, random, sessions, at, next, sent }: Talk): Promise<void> {
  while (!signal.aborted) {
    const session_id = sessions[at]
    const delivery = random() < 0.25 ? 'important' : 'sequential'
    try {
      const said = await own.say(prompt(next, random), { ...(session_id && { session_id }), delivery })
      sessions[at] = said.session_id
      sent.add(said.message_id)
    } catch {
      if (!signal.aborted) await sleep(50)
    }
    await sleep(50 + random() * 400)
  }
}

function prompt(next: () => string, random: () => number): string {
  const mark = () => {
    const name = next()
    const command = `echo ran >> marks/${name}; sleep ${(random() * 0.4).toFixed(2)}`
    return { name: 'Bash', input: { command } }
  }
  const bash = () => ({ tools: [mark()] })
  const task = () =>
    ({ name: 'Task', input: { subagent_type: 'helper', prompt: script(bash(), { text: 'child' }) } }) as const
  const kind = random()
  if (kind < 0.3) return script({ text: 'at once', delayMs: Math.round(random() * 300) })
  if (kind < 0.6) return script(bash(), { tools: [mark(), mark()] }, { text: 'done' })
  if (kind < 0.8) return script({ tools: [task(), task()] }, bash(), { text: 'delegated' })
  return script(call('Glob', { pattern: '*' }), bash(), { text: 'looked' })
}

/** Waits until nothing runs and nothing waits. */
async function settled(own: Own): Promise<AgentEvent[]> {
  const deadline = performance.now() + settleMs
  for (;;) {
    const events = await own.events()
    const isDone = (await own.runs()).every(({ status }) => status !== 'running') && waiting(events) === 0
    if (isDone || performance.now() > deadline) return events
    await sleep(200)
  }
}

const ended = (events: readonly AgentEvent[]) =>
  events.flatMap((event) =>
    event.type === 'message.accepted' || event.type === 'message.failed' ? [event.payload.messageId] : [],
  )

const waiting = (events: readonly AgentEvent[]): number =>
  events.filter(({ type }) => type === 'message.queued').length - ended(events).length

function messageFaults(events: readonly AgentEvent[], sent: ReadonlySet<string>): string[] {
  const ends = ended(events)
  const queued = new Set(
    events.flatMap((event) => (event.type === 'message.queued' ? [event.payload.messageId] : [])),
  )
  return [
    ...ends.filter((id, i) => ends.indexOf(id) !== i).map((id) => `${id} was taken twice`),
    ...[...queued].filter((id) => !ends.includes(id)).map((id) => `${id} still waits`),
    ...[...sent].filter((id) => !queued.has(id)).map((id) => `${id} was acknowledged and is lost`),
  ]
}

function counted(events: readonly AgentEvent[]) {
  const of = (test: (event: AgentEvent) => boolean) => events.filter(test).length
  return {
    taken: of(({ type }) => type === 'message.accepted'),
    runs: of(({ type }) => type === 'agent.spawned'),
    cutOff: of(({ type, actor }) => type === 'tool.call.failed' && actor === 'muster'),
  }
}

const twice = (file: string): string[] =>
  existsSync(file) && readFileSync(file, 'utf8') !== 'ran\n' ? [`${file} was written twice`] : []
