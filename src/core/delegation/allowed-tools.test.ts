import { expect, test } from 'vitest'
import { agentServers, narrowTools } from './allowed-tools.ts'

test('[MUS-279] work gets no tool that its role does not have, and none that is not allowed to it', () => {
  expect(narrowTools(['Read', 'Write'], undefined)).toEqual(['Read', 'Write'])
  expect(narrowTools(['Read', 'Write'], ['*'])).toEqual(['Read', 'Write'])
  expect(narrowTools(['Read', 'Write'], ['Write', 'Bash'])).toEqual(['Write'])
  expect(narrowTools(['*'], ['Write', 'Bash'])).toEqual(['Write', 'Bash'])
  expect(narrowTools(['Read'], [])).toEqual([])
})

const db = { command: 'db-server', args: [], env: {} }
const web = { type: 'http' as const, url: 'https://example.com/mcp', headers: {} }

test('[MUS-268] an agent has the servers that it names, and no others', () => {
  expect(agentServers(undefined, { db })).toEqual({ servers: {}, problems: [] })
  expect(agentServers(['db'], { db, web })).toEqual({ servers: { db }, problems: [] })
  expect(agentServers(['other', 'constructor'], { db }).problems.map(({ server }) => server)).toEqual([
    'other',
    'constructor',
  ])
})

test('[MUS-268] it may bring its own, as Claude Code writes them', () => {
  const own = {
    db: { command: 'mine' },
    web: null,
    bad: { type: 'sse', url: 'x' },
    worse: { command: 'x', shell: true },
  }
  expect(agentServers(own, { db, web })).toEqual({
    servers: { db: { command: 'mine', args: [], env: {} }, web },
    problems: [
      { server: 'bad', reason: expect.stringContaining('expected {command') },
      { server: 'worse', reason: expect.stringContaining('shell') },
    ],
  })
})
