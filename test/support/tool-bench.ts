import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Tool, ToolContext, ToolOutcome } from '../../src/ports/tools.ts'
import { ids } from './temp-engine.ts'
import { tempFolder } from './temp-journal.ts'

/** A workspace of the test's own, and one run of an agent that works in it. */
export function toolBench(tools: readonly Tool[], more: Partial<ToolContext> = {}) {
  const outer = realpathSync(tempFolder('mtool-'))
  const workspace = join(outer, 'work')
  mkdirSync(workspace)
  const output: string[] = []
  const context: ToolContext = {
    workspace,
    writable: [],
    mayChange: true,
    seen: new Map(),
    seenBefore: [],
    signal: new AbortController().signal,
    onOutput: (text) => output.push(text),
    call: { callId: 'c1', spanId: ids.span() },
    ...more,
  }
  const tool = (name: string): Tool => {
    const found = tools.find((one) => one.name === name)
    if (!found) throw new Error(`no tool ${name}`)
    return found
  }
  return {
    outer,
    workspace,
    context,
    output,
    put(path: string, content: string | Uint8Array = '') {
      const file = join(workspace, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, content)
      return file
    },
    text: (path: string) => readFileSync(join(workspace, path), 'utf8'),
    changes: (name: string, input: unknown) => tool(name).changes(input, workspace),
    call: (name: string, input: unknown, other: Partial<ToolContext> = {}): Promise<ToolOutcome> =>
      tool(name).run(input, { ...context, ...other }),
  }
}
