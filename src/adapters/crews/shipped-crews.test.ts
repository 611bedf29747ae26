import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { CrewPattern } from '../../contract/crew.ts'
import { CollaborationInfo } from '../../contract/session-file/multi-agent-session.ts'
import { findCrew } from '../../core/definitions/find-definition.ts'
import { resolveCrews } from '../../core/definitions/resolve-crews.ts'
import { agentFiles } from '../agents/agent-files.ts'
import { crewFiles } from './crew-files.ts'

const signal = new AbortController().signal
const shipped = (folder: string) => fileURLToPath(new URL(`../../../${folder}`, import.meta.url))

async function load(userDir = '/nowhere') {
  const crews = await crewFiles({ shippedDir: shipped('crews'), userDir }).load(undefined, signal)
  const { agents } = await agentFiles({ shippedDir: shipped('agents'), userDir }).load(undefined, signal)
  return resolveCrews(crews, { agents, clis: [] })
}

test('[MUS-277] the shipped crews load with the shipped agents, and the check finds nothing', async () => {
  const loaded = await load()
  expect(loaded.problems).toEqual([])
  expect(
    loaded.crews.map(({ name, flow, members }) => [
      name,
      flow,
      members.map(({ id, count }) => `${id} ${count}`),
    ]),
  ).toEqual([
    ['balanced', 'planned', ['architect 1', 'developer 4', 'reviewer 1']],
    ['council', 'consensus', ['reviewer 1', 'security 1', 'optimizer 1']],
    ['pair', 'one_task', ['developer 1', 'reviewer 1']],
    ['peers', 'peer_to_peer', ['first 1', 'second 1']],
    ['relay', 'pipeline', ['developer 1', 'tester 1', 'documenter 1']],
    ['review-only', 'review', ['reviewer 1']],
    ['risk-aware', 'planned', ['architect 1', 'challenger 1', 'developer 4', 'reviewer 1']],
    ['solo', 'one_task', ['developer 1']],
  ])
  expect(findCrew(loaded, 'Three-Agent').name).toBe('balanced')
  for (const { description, recommendedFor, onMaxIterations } of loaded.crews) {
    expect(description).not.toBe('')
    expect(recommendedFor).not.toEqual([])
    expect(onMaxIterations).toBe('human_review')
  }
})

test('[MUS-277] the risk-aware crew is the balanced one and a challenger', async () => {
  const loaded = await load()
  const members = (name: string) =>
    findCrew(loaded, name).members.map(({ guidelines: _guidelines, ...member }) => member)
  expect(members('risk-aware').filter(({ role }) => role !== 'challenger')).toEqual(members('balanced'))
  expect(findCrew(loaded, 'risk-aware').limits).toEqual(findCrew(loaded, 'balanced').limits)
})

test('[COL-5][COL-69] a new agent type is a new file, and takes part in a crew that is a new file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'muster-crew-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const names = ['tester', 'documenter', 'security', 'optimizer']
  const agent = '---\ntools: [Read, Write]\npolicy: [Patch]\n---\nTranslate.\n'
  const roles = ['architect', 'developer', ...names, 'translator'].map((role) => `  - role: ${role}`)
  const crew = join(folder, 'all.yaml')
  await writeFile(crew, ['description: All of them', 'members:', ...roles].join('\n'))
  expect((await load(folder)).problems).toEqual([
    {
      file: crew,
      line: 9,
      severity: 'error',
      message: 'there is no agent called translator; see: sm agents list',
    },
  ])
  await writeFile(join(folder, 'translator.md'), agent)
  const { crews, problems } = await load(folder)
  expect(problems).toEqual([])
  const duties = crews
    .find(({ name }) => name === 'all')
    ?.members.map(({ agent: who, duty }) => `${who} ${duty}`)
  expect(duties).toEqual([
    'architect plan',
    'developer work',
    'tester work',
    'documenter work',
    'security review',
    'optimizer work',
    'translator work',
  ])
})

test('[COL-5] the session file has a word for every pattern of a crew', () => {
  for (const pattern of CrewPattern.options) {
    // A consensus is written as peer to peer, with its own word beside it.
    const word = pattern === 'consensus' ? 'peer_to_peer' : pattern
    expect(CollaborationInfo.shape.pattern.safeParse(word).success).toBe(true)
  }
})

test('[COL-70][COL-71][COL-72] each pattern names a shipped crew that works so', async () => {
  const loaded = await load()
  for (const pattern of CrewPattern.options) expect(findCrew(loaded, pattern).pattern).toBe(pattern)
})
