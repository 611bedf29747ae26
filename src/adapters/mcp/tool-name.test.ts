import { expect, test } from 'vitest'
import { toolName } from './open-mcp.ts'

test.each([
  ['db', 'query', 'mcp__db__query'],
  ['my server', 'a.b/c', 'mcp__my_server__a_b_c'],
  ['db', 'é', 'mcp__db___'],
])('[MUS-268] %s and %s are %s', (server, tool, expected) => {
  expect(toolName(server, tool)).toBe(expected)
})

test('[MUS-268] long names stay apart, within what providers take', () => {
  const names = ['a', 'b'].map((end) => toolName('server', 'x'.repeat(100) + end))
  expect(new Set(names).size).toBe(2)
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{64}$/)
})
