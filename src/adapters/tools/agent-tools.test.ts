import { expect, test } from 'vitest'
import * as z from 'zod'
import { processes } from '../../../test/support/bash-bench.ts'
import { matchesGlob } from '../../core/delegation/globs.ts'
import { agentTools } from './agent-tools.ts'

test('[RUN-22] every tool has the name and the parameters of Claude Code, told to models as JSON Schema', () => {
  const tools = agentTools({ env: {}, processes, matchesGlob })
  const told = tools.map((tool) => {
    const schema = z.toJSONSchema(tool.input, { io: 'input' })
    expect(schema).toMatchObject({ type: 'object', additionalProperties: false })
    for (const property of Object.values(schema.properties ?? {}))
      expect(property).toHaveProperty('description')
    return [tool.name, Object.keys(schema.properties ?? {}), schema.required]
  })
  expect(told).toEqual([
    ['Read', ['file_path', 'offset', 'limit'], ['file_path']],
    ['Write', ['file_path', 'content'], ['file_path', 'content']],
    [
      'Edit',
      ['file_path', 'old_string', 'new_string', 'replace_all'],
      ['file_path', 'old_string', 'new_string'],
    ],
    ['Glob', ['pattern', 'path'], ['pattern']],
    [
      'Grep',
      ['pattern', 'path', 'glob', 'output_mode', '-i', '-n', '-A', '-B', '-C', 'head_limit', 'multiline'],
      ['pattern'],
    ],
    ['Bash', ['command', 'timeout', 'description'], ['command']],
  ])
})
