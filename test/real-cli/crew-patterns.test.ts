import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { EventOf, EventType } from '../../src/contract/event.ts'
import { validateSession } from '../../src/session-file/validate.ts'
import { cliPath, clis, missingCli } from '../support/clis.ts'
import { crewClis } from '../support/crew-clis.ts'
import type { Part } from '../support/crew-model.ts'

const said = (value: unknown) => ({ text: `\`\`\`json\n${JSON.stringify(value)}\n\`\`\`` })
const write = (file_path: string, content: string) => ({
  tools: [{ name: 'Write', input: { file_path, content } }],
})
const vote = (who: string, choice: string): Part => ({
  when: `You are ${who} (${who}), in vote 1 `,
  // A voter has nothing that changes files.
  steps: [write('left.txt', 'for the others\n'), said({ vote: choice, reason: `${who} thinks so` })],
})
const parts: readonly Part[] = [
  {
    when: 'You are ann (coder), in round 1 ',
    steps: [
      write('note.txt', 'hello\n'),
      said({ summary: 'Written.', agrees: true, messages: [{ to: 'bob', content: 'polite enough?' }] }),
    ],
  },
  {
    when: 'You are bob (coder), in round 1 ',
    steps: [
      write('polite.txt', 'good day\n'),
      said({ summary: 'Now it is.', agrees: true, board: { version: 1, content: 'two notes' } }),
    ],
  },
  { when: 'You are ann (coder), in round 2 ', steps: [said({ summary: 'Good.', agrees: true })] },
  vote('reviewer', 'yes'),
  vote('security', 'yes'),
]
const crews = {
  equals: `description: equals
pattern: peer_to_peer
members: [{ id: ann, role: coder, cli: claude }, { id: bob, role: coder, cli: claude }]
`,
  voters: `description: voters
pattern: consensus
members: [{ role: reviewer, cli: claude }, { role: security, cli: claude }]
`,
}

test('[COL-70][COL-72] Claude Code as peers and as voters: they agree and decide, each in its own place', async ({
  skip,
}) => {
  const missing = clis.find(({ name }) => name === 'claude' && !cliPath(name))
  if (missing) return skip(missingCli(missing))
  const m = await crewClis(parts)
  for (const [name, yaml] of Object.entries(crews))
    writeFileSync(join(m.repo, '.muster/crews', `${name}.yaml`), yaml)
  const of = async <T extends EventType>(type: T) =>
    (await m.events()).filter((event): event is EventOf<T> => event.type === type)

  const together = await m.crew('Write a note.', { crew: 'equals' })
  const agreed = await m.until(together.workflow_id, (flow) => flow.report !== null)
  expect(agreed).toMatchObject({
    report: {
      outcome: 'approved',
      agreement: { agreed: true, version: 2, rounds: 2, board: 'two notes' },
      tasks: [
        { task_id: 'round-1-ann', files: [{ path: 'note.txt' }] },
        { task_id: 'round-1-bob', files: [{ path: 'polite.txt' }] },
        { task_id: 'round-2-ann', files: [] },
      ],
    },
  })
  const names = m.git('ls-tree', '--name-only', together.branch)
  expect(names).toContain('note.txt')
  expect(names).toContain('polite.txt')
  const messages = (await of('agent.message.created')).filter(({ payload }) => payload.messageType)
  expect(messages.map(({ payload: p }) => [p.from.agentId, p.to.agentId])).toEqual([['ann', 'bob']])

  const voted = await m.crew('Shall we?', { crew: 'voters' })
  expect(await m.until(voted.workflow_id, ({ status }) => status !== 'running')).toMatchObject({
    status: 'completed',
    report: { outcome: 'approved', summary: 'yes: 2 of 2 votes', files: [] },
  })
  // The two of the peers; a voter has no such tool, whatever it calls.
  const written = (await of('tool.call.completed')).filter(({ payload }) => payload.tool === 'Write')
  expect(written).toHaveLength(2)
  for (const { session_id } of [together, voted]) {
    const { document, filename } = await m.client.exportLog({ id: session_id })
    expect(validateSession(document, { filename })).toMatchObject({ valid: true, errors: [] })
  }
})
