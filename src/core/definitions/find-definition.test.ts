import { expect, test } from 'vitest'
import { AgentFrontmatter, agentDefinition } from '../../contract/agent-definition.ts'
import { findAgent } from './find-definition.ts'

const agent = (name: string, aliases: string[] = []) =>
  agentDefinition(AgentFrontmatter.parse({ name, aliases }), {
    stem: name,
    prompt: '',
    source: 'shipped',
    file: '',
    lines: {},
  })
const agents = [agent('developer', ['Engineer']), agent('explore')]

test('[SM-14][MUS-148] an agent is found by name or alias, in any case', () => {
  for (const wanted of ['developer', 'DEVELOPER', 'Engineer', 'engineer']) {
    expect(findAgent(agents, wanted).name).toBe('developer')
  }
})

test('[SM-14] an unknown type is refused with the nearest and the known ones', () => {
  expect(() => findAgent(agents, 'Enginer')).toThrow(
    'no agent type Enginer; did you mean engineer? Known: developer or engineer, explore',
  )
  expect(() => findAgent([], 'x')).toThrow('no agent type x; known: none')
  expect(() => findAgent(agents, 'x')).toThrow(expect.objectContaining({ code: 'not_found' }))
})
