import type { AsyncLocalStorage } from 'node:async_hooks'
import type { registerHooks } from 'node:module'
import type { ScriptAnswer, ScriptBeginning } from '../../../ports/scripts.ts'
import type { Branch, makeBranches } from './branches.ts'
import type { seal } from './seal.ts'
import type { makeSurface } from './surface.ts'

/** What the process of a script is made of. */
export type ChildParts = {
  readonly registerHooks: typeof registerHooks
  readonly builtinModules: readonly string[]
  readonly storage: AsyncLocalStorage<Branch>
  readonly makeBranches: typeof makeBranches
  readonly seal: typeof seal
  readonly makeSurface: typeof makeSurface
  readonly load: (url: string) => Promise<Readonly<Record<string, unknown>>>
  readonly process: NodeJS.Process
}

type Told = { readonly begin: ScriptBeginning } | ({ readonly id: number } & ScriptAnswer)

/**
 * The process of a script: one JSON object per line each way. Sent to it as text: it may use nothing but what it is
 * given.
 */
export function scriptChild(parts: ChildParts): void {
  const { storage, process } = parts
  const { parse, stringify } = JSON
  const place = 'file:///workflow/'
  const write = process.stdout.write.bind(process.stdout)
  const waiting = new Map<number, { resolve: (value: ScriptAnswer) => void }>()
  Error.stackTraceLimit = 50

  const send = (message: object, then?: () => void) => {
    write(`${stringify(message)}\n`, then)
  }
  const lineOf = (stack: string | undefined): string | undefined => {
    const found = /file:\/\/\/workflow\/([^\s):]+:\d+)/.exec(stack ?? '')
    return found?.[1] && decodeURI(found[1])
  }
  const failed = (error: unknown) => {
    const { message, stack } = (error instanceof Error ? error : {}) as Partial<Error>
    const line = lineOf(stack)
    send({ failed: { message: message ?? String(error), ...(line && { line }) } })
  }

  const begin = async ({ source, args, ...beginning }: ScriptBeginning) => {
    const branches = parts.makeBranches(storage, beginning)
    const { here, learn } = branches
    let count = 0
    const ask = async (call: Record<string, unknown>) => {
      const line = lineOf(new Error('here').stack)
      count += 1
      const id = count
      const answer = await new Promise<ScriptAnswer>((resolve) => {
        waiting.set(id, { resolve })
        send({ id, call: { ...call, ...(line && { line }) } })
      })
      learn({ nowMs: answer.atMs, left: answer.left })
      if ('error' in answer)
        throw Object.assign(new Error(answer.error.message), {
          name: 'ScriptError',
          code: answer.error.code,
          path: call['path'],
        })
      return answer.value
    }
    const surface = parts.makeSurface(branches, ask)
    const files = new Map(
      Object.entries(source.files).map(([name, text]) => [new URL(name, place).href, text]),
    )
    parts.registerHooks({
      resolve(specifier, { parentURL }) {
        const isOwn = /^\.{0,2}\/|^file:/.test(specifier)
        const url = isOwn && URL.parse(specifier, parentURL?.startsWith(place) ? parentURL : place)?.href
        if (url && files.has(url)) return { url, shortCircuit: true }
        throw new Error(`a script cannot import ${specifier}: only files next to it, at the top of a file`)
      },
      load(url) {
        const format = url.endsWith('.json') ? 'json' : 'module-typescript'
        return { format, source: files.get(url) ?? '', shortCircuit: true }
      },
    })
    parts.seal(branches, (text) => (surface['log'] as (text: string) => void)(text))
    // Node lays its modules into the world of a program that it was given as text.
    for (const name of parts.builtinModules) Reflect.deleteProperty(globalThis, name)
    send({ begun: true })
    const loaded = await parts.load(new URL(source.main, place).href)
    const act = loaded['default']
    if (typeof act !== 'function')
      throw new Error(`${source.main} exports no function: export default async function …`)
    const value = (await act({ args, ...surface })) as unknown
    return { done: value === undefined ? null : value, atMs: here().nowMs }
  }

  const over = (message: object) => send(message, () => process.exit(0))
  const hear = (line: string) => {
    const told = parse(line) as Told
    if ('begin' in told) {
      begin(told.begin)
        .then(over, (error: unknown) => failed(error))
        .catch((error: unknown) => failed(error))
      return
    }
    const asked = waiting.get(told.id)
    waiting.delete(told.id)
    asked?.resolve(told)
  }
  process.on('uncaughtException', failed)
  let rest = ''
  process.stdin.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) hear(line)
  })
}
