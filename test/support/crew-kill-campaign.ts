import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isToLand } from '../../src/cli/follow-workflow.ts'
import { demonstrationRequest } from '../../src/contract/demonstration.ts'
import type { AgentEvent } from '../../src/contract/event.ts'
import { crewModel, crewSettings, type Part, playerOf } from './crew-model.ts'
import { crewProject } from './crew-project.ts'
import { type DaemonProcess, startDaemonProcess } from './daemon-process.ts'
import { seeded } from './random.ts'

/** What a campaign found. */
export type CrewKills = {
  readonly ends: number
  readonly phases: Record<string, number>
  readonly faults: string[]
}

type Options = {
  readonly seed: number
  /** What the crews do, one kill after the other; the standard flow when left out. */
  readonly plays?: readonly (keyof typeof plays)[]
  /** Kills of a daemon, and how many crews are at work at each of them. */
  readonly kills: number
  readonly crews: number
  readonly onKill?: (n: number, found: CrewKills) => void
}

const longestMs = 180_000
const stillMs = 5000

/** What a crew does, and what is there at its end. */
type Play = {
  readonly crew: string
  readonly request: string
  /** About so many facts are written from its beginning to its end. */
  readonly facts: number
  /** Below the root run. */
  readonly agents: number
  /** How often an architect answered. */
  readonly answers: number
  readonly commits: number
  readonly messages?: number
  /** The versions that the blackboard has had. */
  readonly versions?: readonly number[]
  /** What came of each ballot. */
  readonly ballots?: readonly string[]
}

const plays = {
  balanced: {
    crew: 'balanced',
    request: demonstrationRequest,
    facts: 400,
    agents: 5,
    commits: 7,
    answers: 3,
  },
  peers: {
    crew: 'peers',
    request: 'Write two notes. SCRIPT=play',
    facts: 110,
    agents: 3,
    answers: 0,
    commits: 3,
    messages: 2,
    versions: [1, 2],
  },
  council: {
    crew: 'council',
    request: 'Shall we? SCRIPT=play',
    facts: 150,
    agents: 6,
    answers: 0,
    commits: 1,
    ballots: ['tie', 'decided'],
  },
} as const satisfies Record<string, Play>

const said = (value: object) => ({ text: `\`\`\`json\n${JSON.stringify(value)}\n\`\`\``, delayMs: 40 })
/** What was cut off is told and not done again by itself: the script makes each change twice. */
const wrote = (file_path: string) => {
  const step = { tools: [{ name: 'Write', input: { file_path, content: 'hello\n' } }], delayMs: 40 }
  return [step, step]
}
const voted = (who: string, number: number, vote: string): Part => ({
  when: `You are ${who} (${who}), in vote ${number} `,
  steps: [
    { tools: [{ name: 'Read', input: { file_path: 'README.md' } }], delayMs: 40 },
    said({ vote, reason: `${who} thinks so` }),
  ],
})

/** Equals that need a second round, and voters that need a second ballot. */
const parts: readonly Part[] = [
  {
    when: 'You are first (coder), in round 1 ',
    steps: [
      ...wrote('one.txt'),
      said({
        summary: 'One.',
        agrees: true,
        board: { version: 0, content: 'two notes' },
        messages: [{ to: 'second', content: 'write the other' }],
      }),
    ],
  },
  {
    when: 'You are second (engineer), in round 1 ',
    steps: [
      ...wrote('two.txt'),
      said({ summary: 'Two.', agrees: true, messages: [{ to: 'all', content: 'it is there' }] }),
    ],
  },
  { when: 'You are first (coder), in round 2 ', steps: [said({ summary: 'Good.', agrees: true })] },
  voted('reviewer', 1, 'yes'),
  voted('security', 1, 'no'),
  voted('optimizer', 1, 'abstain'),
  voted('reviewer', 2, 'yes'),
  voted('security', 2, 'yes'),
  voted('optimizer', 2, 'no'),
]

/** Kills the daemon at random moments of the standard flow; every crew has to come to its right end. */
export async function killCrews({
  seed,
  kills,
  crews,
  onKill,
  plays: names = ['balanced'],
}: Options): Promise<CrewKills> {
  const random = seeded(seed)
  const model = await crewModel(parts)
  const found: CrewKills = { ends: 0, phases: {}, faults: [] }
  try {
    for (let kill = 1; kill <= kills; kill++) {
      const home = realpathSync(mkdtempSync(join(tmpdir(), 'muster-crew-kill-')))
      let daemon: DaemonProcess | undefined
      const play: Play = plays[names[(kill - 1) % names.length] ?? 'balanced']
      try {
        const env = crewSettings(home, model.url)
        daemon = await startDaemonProcess(home, { env })
        const flows = await Promise.all(
          Array.from({ length: crews }, (_, i) =>
            begin(daemon as DaemonProcess, play, join(home, `repo-${i}`)),
          ),
        )
        // By what was written, not by time: the flow is somewhere in its middle however fast the machine is.
        await reached(daemon, Math.floor(random() * play.facts * crews))
        for (const { id } of flows) {
          const { phase, status } = await daemon.client.getWorkflow({ id })
          const where = status === 'running' ? (phase ?? 'begin') : status
          found.phases[where] = (found.phases[where] ?? 0) + 1
        }
        await daemon.kill('SIGKILL')
        daemon = await startDaemonProcess(home, { env })
        for (const flow of flows)
          found.faults.push(
            ...(await judge(daemon, play, flow)).map((fault) => `kill ${kill}: ${flow.id}: ${fault}`),
          )
        Object.assign(found, { ends: found.ends + flows.length })
      } finally {
        await daemon?.kill('SIGKILL')
        if (found.faults.length === 0) rmSync(home, { recursive: true, force: true })
      }
      onKill?.(kill, found)
    }
  } finally {
    await model.close()
  }
  return found
}

/** Until so much was written, or nothing more is. */
async function reached({ client }: DaemonProcess, wanted: number): Promise<void> {
  let last = { seq: 0, atMs: performance.now() }
  while (last.seq < wanted && performance.now() - last.atMs < stillMs) {
    await sleep(5)
    const { seq } = await client.health({})
    if (seq > last.seq) last = { seq, atMs: performance.now() }
  }
}

type Begun = { readonly id: string; readonly session: string; readonly repo: string; readonly branch: string }

async function begin({ client }: DaemonProcess, play: Play, repo: string): Promise<Begun> {
  const { request, crew } = play
  crewProject(repo)
  const { workflow_id, session_id, branch } = await client.startCrew({
    request,
    project_root: repo,
    crew,
    model: playerOf(request),
  })
  return { id: workflow_id, session: session_id, repo, branch }
}

/** What is wrong with a crew that went through a kill. */
async function judge(
  { client }: DaemonProcess,
  play: Play,
  { id, session, repo, branch }: Begun,
): Promise<string[]> {
  const until = performance.now() + longestMs
  let flow = await client.getWorkflow({ id })
  const over = async (isOver: () => boolean) => {
    while (!isOver() && performance.now() < until) {
      await sleep(100)
      flow = await client.getWorkflow({ id })
    }
  }
  await over(() => flow.status !== 'running' || isToLand(flow))
  if (isToLand(flow)) {
    await client.decideApproval({ id: session, verdict: 'allow', scope: 'once' })
    await over(() => flow.status !== 'running')
  }
  const faults: string[] = []
  if (flow.status !== 'completed' || flow.report?.outcome !== 'approved')
    return [`it is ${flow.status}: ${flow.detail ?? flow.report?.outcome ?? ''}`]
  const events: AgentEvent[] = []
  for (let after = 0; ; ) {
    const page = (await client.listEvents({ session, after, limit: 500 })).events as AgentEvent[]
    events.push(...page)
    if (page.length < 500) break
    after = page.at(-1)?.seq ?? after
  }
  const of = (type: AgentEvent['type']) => events.filter((event) => event.type === type)
  const twice = (what: string, keys: readonly unknown[]) => {
    const again = keys.filter((key, i) => keys.indexOf(key) !== i)
    if (again.length > 0) faults.push(`${what} twice: ${[...new Set(again)].join(', ')}`)
  }
  twice(
    'spawned',
    of('agent.spawned').map(({ spanId }) => spanId),
  )
  twice(
    'ended',
    events
      .filter(({ type }) => /^agent\.(completed|failed|cancelled|killed|abandoned)$/.test(type))
      .map(({ spanId }) => spanId),
  )
  twice(
    'called',
    events.flatMap((event) => (event.type === 'tool.call.started' ? [event.payload.callId] : [])),
  )
  twice(
    'done',
    events.flatMap((event) => (event.type === 'workflow.checkpoint.saved' ? [event.payload.step] : [])),
  )
  twice(
    'assigned',
    events.flatMap((event) => (event.type === 'agent.task.assigned' ? [event.payload.taskId] : [])),
  )
  twice(
    'ended in all',
    events
      .filter(({ type }) => /^workflow\.(finalized|failed|cancelled)$/.test(type))
      .map(({ workflowId }) => workflowId),
  )
  const members = of('agent.spawned').filter(({ parentRunId }) => parentRunId !== undefined)
  if (members.length !== play.agents) faults.push(`${members.length} agents instead of ${play.agents}`)
  const asked = of('agent.message.created').flatMap((event) =>
    event.type === 'agent.message.created' ? [event.payload.messageId] : [],
  )
  // A prompt that was cut off before any model had it may be asked again; it is answered once.
  const answers = asked.filter((one) => /:answer:[0-9a-f]{16}$/.test(one))
  if (answers.length !== play.answers)
    faults.push(`${answers.length} answers of the architect instead of ${play.answers}`)
  for (const event of events) {
    if (event.type === 'task.failed') faults.push(`${event.taskId} failed: ${event.payload.reason}`)
    if (event.type === 'workflow.checkpoint.saved' && event.payload.error !== undefined)
      faults.push(`${event.payload.step} failed: ${JSON.stringify(event.payload.error)}`)
  }
  const [end] = events.filter((event) => event.type === 'workflow.finalized')
  // An architect is the root run, and counts.
  const total = play.agents + (play.answers > 0 ? 1 : 0)
  if (end?.type === 'workflow.finalized' && end.payload.totalAgents !== total)
    faults.push(`${end.payload.totalAgents} agents are counted instead of ${total}`)
  const differs = (what: string, found: readonly unknown[], expected: readonly unknown[] | undefined) => {
    if (expected && JSON.stringify(found) !== JSON.stringify(expected))
      faults.push(`${what}: ${found.join(', ')} instead of ${expected.join(', ')}`)
  }
  const versions = events.flatMap((event) =>
    event.type === 'blackboard.item.created' || event.type === 'blackboard.item.updated'
      ? [event.payload.version]
      : [],
  )
  differs('versions of the blackboard', versions, play.versions)
  const ballots = flow.report.ballots?.map(({ result }) => result) ?? []
  differs('ballots', ballots, play.ballots)
  const decided = events.filter(
    (event) => event.type === 'decision.made' && event.payload.subject === 'approach',
  )
  if (play.ballots) differs('decisions', [decided.length], [play.ballots.length])
  const numbers = events.flatMap((event) =>
    event.type === 'agent.message.created' && event.payload.messageType !== undefined
      ? [event.payload.sequenceNumber]
      : [],
  )
  if (numbers.some((n, i) => n !== i + 1)) faults.push(`messages with gaps: ${numbers.join(' ')}`)
  if (play.messages !== undefined) differs('messages', [numbers.length], [play.messages])
  const git = (...args: string[]) => execFileSync('git', ['-C', repo, ...args], { encoding: 'utf8' })
  const commits = git('log', '--format=%s', branch).trim().split('\n')
  if (commits.length !== play.commits)
    faults.push(`${commits.length} commits instead of ${play.commits}: ${commits.join(' | ')}`)
  if (git('worktree', 'list').trim().split('\n').length !== 1)
    faults.push(`work trees are left: ${git('worktree', 'list')}`)
  git('checkout', '-q', branch)
  try {
    execFileSync(process.execPath, ['--test'], { cwd: repo, stdio: 'pipe' })
  } catch {
    faults.push('the tests of its branch fail')
  }
  return faults
}
