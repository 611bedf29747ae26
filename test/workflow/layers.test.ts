import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openIndexQueries } from '../../src/adapters/sqlite/index-queries.ts'
import { type AgentEvent, catalogue } from '../../src/contract/event.ts'
import type { IndexQueries } from '../../src/ports/index.ts'
import { crewDaemon } from '../support/crew-daemon.ts'
import { eventually } from '../support/session-daemon.ts'
import { TempIndex } from '../support/temp-index.ts'

const script = `
export const meta = { name: 'claims', description: 'Finds and judges', phases: ['find', 'judge'] }
export default async function ({ agent, parallel, phase, verify, checkpoint }) {
  const found = await phase('find', () =>
    parallel(['one', 'two'].map((name) => () => agent('Find ' + name + '. SCRIPT=play'))))
  await checkpoint({ found })
  return phase('judge', () => verify(found.map((text, i) => ({ id: 'f' + i, text: text + ' SCRIPT=play' })), { votes: 1 }))
}
`
const usage = { input: 40, output: 2 }
const vote = '```json\n{ "verdict": "supported", "evidence": "seen" }\n```'

/** A node of a run, as one who has nothing but its facts puts it together. */
type Node = {
  kind: string
  phase?: string | undefined
  parent?: string | undefined
  start?: AgentEvent
  end?: AgentEvent
}

function nodesOf(events: readonly AgentEvent[]): Map<string, Node> {
  const nodes = new Map<string, Node>()
  for (const event of events) {
    const point =
      event.type === 'claim.verified'
        ? 'claim'
        : event.type === 'workflow.checkpoint.saved'
          ? 'checkpoint'
          : undefined
    const kind = point ?? catalogue[event.type].spanKind
    if (kind === undefined) continue
    // Every checkpoint is written at the span of its workflow: what it is of tells them apart.
    const key =
      event.type === 'workflow.checkpoint.saved' ? `${event.spanId} ${event.payload.step}` : event.spanId
    const node = nodes.get(key) ?? { kind }
    nodes.set(key, {
      ...node,
      phase: node.phase ?? event.phase,
      parent: node.parent ?? (point === 'checkpoint' ? event.spanId : event.parentSpanId),
      ...(node.start ? { end: event } : { start: event }),
    })
  }
  return nodes
}

test('[OBS-35] a run is told at five layers, and each of its nodes can be rebuilt from the events alone', async () => {
  const m = await crewDaemon({
    parts: [
      ...['one', 'two'].map((name) => ({
        when: `Find ${name}`,
        steps: [{ text: `${name} is wrong`, usage }],
      })),
      { when: 'is wrong', steps: [{ text: vote, usage }] },
    ],
  })
  writeFileSync(join(m.repo, 'claims.ts'), script)
  const { workflow_id, session_id } = await m.client().startScript({
    script: './claims.ts',
    project_root: m.repo,
    args: null,
    cli: 'own',
    limits: {},
    approved: true,
  })
  const flow = await m.ended(workflow_id)
  expect(flow).toMatchObject({ status: 'completed', agents: 4 })
  await eventually(
    () => m.client().getSession({ id: session_id }),
    ({ status }) => status === 'completed',
  )
  const events = await m.events(session_id)
  const nodes = nodesOf(events)
  // The run of the workflow itself is around all of it.
  const of = (kind: string) =>
    [...nodes.values()].filter(
      (node) => node.kind === kind && (kind !== 'agent' || node.start?.parentRunId !== undefined),
    )
  expect(
    Object.fromEntries(['workflow', 'phase', 'agent', 'claim'].map((kind) => [kind, of(kind).length])),
  ).toEqual({
    workflow: 1,
    phase: 2,
    agent: 4,
    claim: 2,
  })
  expect(of('checkpoint').map(({ start }) => start?.payload)).toContainEqual(
    expect.objectContaining({ step: 'checkpoint#1', stateBytes: expect.any(Number) }),
  )

  const parents = new Map<string, string>(
    events.flatMap(({ spanId, parentSpanId }) => (parentSpanId ? [[spanId, parentSpanId]] : [])),
  )
  const trail = ({ parent }: Node): Node[] => {
    const found: Node[] = []
    for (let at = parent; at !== undefined; at = parents.get(at)) {
      const node = nodes.get(at)
      if (node) found.push(node)
    }
    return found
  }
  // Each hangs below the workflow, in the phase that it says, and all that began has ended.
  const [workflow] = of('workflow')
  for (const node of [...of('phase'), ...of('agent'), ...of('claim'), ...of('checkpoint')]) {
    const above = [node, ...trail(node)]
    expect(above, node.start?.type).toContain(workflow)
    const phase = above.find(({ kind }) => kind === 'phase')
    if (node.kind === 'agent' || node.kind === 'claim') expect(phase?.phase).toBe(node.phase)
    if (node.kind === 'agent' || node.kind === 'phase') expect(node.end?.type).toMatch(/\.completed$/)
  }

  // What came of each node, and the sums of the run, are what the run itself gave.
  const answers = of('agent').map(({ end }) => end?.payload as { tokens: number; output: { text: string } })
  expect(answers.map(({ output }) => output.text).toSorted()).toEqual(
    ['one is wrong', 'two is wrong', vote, vote].toSorted(),
  )
  expect(workflow?.end?.payload).toMatchObject({
    totalAgents: of('agent').length,
    totalTokens: answers.reduce((sum, { tokens }) => sum + tokens, 0),
  })
  expect(flow.result).toMatchObject(
    of('claim').map(({ start }) => ({ verdict: start?.type === 'claim.verified' && start.payload.verdict })),
  )

  // An index that is made of nothing but these events says of the run what the daemon says.
  using index = new TempIndex()
  using rebuilt = index.queries(events.map((event) => JSON.parse(JSON.stringify(event)) as AgentEvent))
  const own = openIndexQueries(join(m.home, 'index.db'))
  onTestFinished(() => own.close())
  const { sessionId = '' } = events[0] ?? {}
  const view = (of: IndexQueries) => ({
    workflows: of.workflows({ workflowId: workflow_id }),
    runs: of.runs({ sessionId, limit: 1000 }),
    spans: of.spans({ sessionId, limit: 1000 }),
  })
  expect(view(rebuilt)).toEqual(view(own))
  expect(view(rebuilt).spans.length).toBeGreaterThan(10)
})
