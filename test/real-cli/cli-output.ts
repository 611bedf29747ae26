import type { CliName } from '../support/hermetic.ts'

/** One line that a CLI prints as JSON. */
export type Line = Record<string, unknown>
type Usage = { input: number; output: number; cacheRead: number; cacheWrite: number; reasoning: number }

export const none: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }

/** What the CLI gives as the answer to its prompt. */
export const finalText: Readonly<Record<CliName, (lines: readonly Line[]) => string>> = {
  claude: (lines) => textAt(lines.at(-1), 'result'),
  codex: (lines) => textAt(last(lines, 'item.type', 'agent_message'), 'item.text'),
  opencode: (lines) => textAt(last(lines, 'type', 'text'), 'part.text'),
  gemini(lines) {
    const afterTools = lines.slice(lines.findLastIndex((line) => line['type'] === 'tool_result') + 1)
    return all(afterTools, 'role', 'assistant')
      .map((line) => textAt(line, 'content'))
      .join('')
  },
  pi(lines) {
    const message = at(last(lines, 'type', 'turn_end'), 'message.content') as Line[]
    return textAt(message.at(-1), 'text')
  },
}

/** The tokens of the whole run as the CLI itself has counted them. */
export const tokens: Readonly<Record<CliName, (lines: readonly Line[]) => object>> = {
  claude(lines) {
    const count = counter(at(lines.at(-1), 'usage'))
    return {
      input: count('input_tokens'),
      output: count('output_tokens'),
      cacheRead: count('cache_read_input_tokens'),
      cacheWrite: count('cache_creation_input_tokens'),
    }
  },
  codex(lines) {
    const count = counter(at(last(lines, 'type', 'turn.completed'), 'usage'))
    const cacheRead = count('cached_input_tokens')
    const cacheWrite = count('cache_write_input_tokens')
    return {
      input: count('input_tokens') - cacheRead - cacheWrite,
      output: count('output_tokens'),
      cacheRead,
      cacheWrite,
      reasoning: count('reasoning_output_tokens'),
    }
  },
  opencode(lines) {
    const counts = all(lines, 'type', 'step_finish').map((line) => counter(at(line, 'part.tokens')))
    const sum = (path: string) => counts.reduce((total, count) => total + count(path), 0)
    return {
      input: sum('input'),
      output: sum('output') + sum('reasoning'),
      cacheRead: sum('cache.read'),
      cacheWrite: sum('cache.write'),
      reasoning: sum('reasoning'),
    }
  },
  gemini(lines) {
    const count = counter(at(last(lines, 'type', 'result'), 'stats'))
    return {
      input: count('input'),
      cacheRead: count('cached'),
      output: count('total_tokens') - count('input_tokens'),
    }
  },
  pi(lines) {
    const counts = all(lines, 'type', 'turn_end').map((line) => counter(at(line, 'message.usage')))
    const sum = (path: string) => counts.reduce((total, count) => total + count(path), 0)
    return {
      input: sum('input'),
      output: sum('output'),
      cacheRead: sum('cacheRead'),
      cacheWrite: sum('cacheWrite'),
    }
  },
}

/** What the scripted model tells a CLI: Gemini's protocol has no word for what was written to the cache. */
export function sent(cli: CliName, usage: Usage): Usage {
  return cli === 'gemini' ? withoutWrites(usage) : usage
}

/** What the CLI must have counted; each tells some counts and not others. */
export function reported(cli: CliName, usages: readonly Usage[]): object {
  // OpenCode's client for this protocol does not read the writes.
  const counted = cli === 'gemini' || cli === 'opencode' ? usages.map(withoutWrites) : usages
  const { input, output, cacheRead, cacheWrite, reasoning } = counted.reduce(add)
  if (cli === 'gemini') return { input, output, cacheRead }
  const told = { input, output, cacheRead, cacheWrite }
  return cli === 'codex' || cli === 'opencode' ? { ...told, reasoning } : told
}

const withoutWrites = (usage: Usage): Usage => ({
  ...usage,
  input: usage.input + usage.cacheWrite,
  cacheWrite: 0,
})

const add = (a: Usage, b: Usage): Usage => ({
  input: a.input + b.input,
  output: a.output + b.output,
  cacheRead: a.cacheRead + b.cacheRead,
  cacheWrite: a.cacheWrite + b.cacheWrite,
  reasoning: a.reasoning + b.reasoning,
})

const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, name) => (inner as Line | undefined)?.[name], value)

const textAt = (value: unknown, path: string): string => {
  const text = at(value, path)
  return typeof text === 'string' ? text : ''
}

const counter = (value: unknown) => (path: string) => at(value, path) as number
const all = (lines: readonly Line[], path: string, value: string) =>
  lines.filter((line) => at(line, path) === value)
const last = (lines: readonly Line[], path: string, value: string) => all(lines, path, value).at(-1)
