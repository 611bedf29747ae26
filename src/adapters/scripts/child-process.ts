import * as z from 'zod'
import { AppError } from '../../contract/errors.ts'
import { foreignJson } from '../../contract/formats/foreign-json.ts'
import { ScriptCall } from '../../contract/script.ts'
import type { Processes } from '../../ports/processes.ts'
import type { ScriptAnswer, ScriptBeginning } from '../../ports/scripts.ts'
import { cutText } from '../system/define-tool.ts'
import { startPiped } from '../system/run-program.ts'
import { childProgram } from './child/program.ts'

export type ChildLimits = {
  /** So long it may do nothing but think, with nothing asked that is not answered. */
  readonly quietMs: number
  readonly lineBytes: number
  /** All that it may say in a run. */
  readonly totalBytes: number
  readonly calls: number
}

export const usualLimits: ChildLimits = {
  quietMs: 30_000,
  lineBytes: 4 << 20,
  totalBytes: 64 << 20,
  calls: 50_000,
}

/** Long enough for a start on a machine that is busy. */
const startMs = 60_000

type Starting = {
  readonly argv: readonly string[]
  readonly processes: Processes
  readonly limits: ChildLimits
  readonly begin: Omit<ScriptBeginning, 'isUnsafe'>
  readonly answer: (call: ScriptCall) => Promise<ScriptAnswer>
}

/** Runs the process of one script to its end, whatever it does, and gives its last word. */
export async function runChild(
  { argv, processes, limits, begin, answer }: Starting,
  signal: AbortSignal,
): Promise<LastWord> {
  signal.throwIfAborted()
  const program = await startPiped({
    argv: [...argv, '--eval', childProgram()],
    env: {},
    folder: '/',
    processes,
  })
  const end = Promise.withResolvers<LastWord>()
  const fail = (why: string) => end.reject(new AppError('failed', why))
  const stop = () => end.reject(signal.reason as Error)
  signal.addEventListener('abort', stop, { once: true })
  let lastLine: string | undefined
  let asked = 0
  let open = 0
  let quiet: NodeJS.Timeout | undefined
  const after = () => (lastLine === undefined ? 'from its beginning' : `after ${lastLine}`)
  const late = (ms: number, why: string) => {
    clearTimeout(quiet)
    quiet = setTimeout(() => fail(`${why} ${ms / 1000} s ${after()}`), ms)
  }
  const watch = () => {
    clearTimeout(quiet)
    if (open === 0)
      late(limits.quietMs, 'it loops or waits for something that never happens: no call and no end for')
  }
  const tell = (message: object) => program.input.write(`${JSON.stringify(message)}\n`)

  const take = async (id: number, given: unknown): Promise<void> => {
    const call = ScriptCall.safeParse(given)
    const line = (given as { line?: unknown } | null)?.line
    if (typeof line === 'string') lastLine = cutText(line, 200)
    asked += 1
    if (asked > limits.calls) return fail(`${lastLine ?? 'it'}: more than ${limits.calls} calls in one run`)
    open += 1
    watch()
    try {
      if (call.success) tell({ id, ...(await answer(call.data)) })
      else {
        const [issue] = call.error.issues
        const message = `${issue?.path.join('.') || 'the call'}: ${issue?.message ?? 'it cannot be read'}`
        tell({ id, atMs: begin.nowMs, left: begin.left, error: { code: 'invalid', message } })
      }
    } catch (error) {
      end.reject(error as Error)
    } finally {
      open -= 1
      watch()
    }
  }
  const hear = (line: string): void => {
    const words = ChildWords.safeParse(foreignJson(line))
    if (!words.success) return fail(`${lastLine ?? 'it'}: its output cannot be read`)
    if ('begun' in words.data) watch()
    else if ('call' in words.data) void take(words.data.id, words.data.call)
    else if ('failed' in words.data) {
      const { message, line: at } = words.data.failed
      fail(cutText(at === undefined ? message : `${at}: ${message}`, 4000))
    } else end.resolve(words.data)
  }
  eachLine(program.output, limits, { hear, fail: (why) => fail(`${why} ${after()}`) })
  void program.closed.then(() => {
    const words = program.lastWords()
    const why = /heap out of memory/.test(words) ? 'it used too much memory' : 'its process ended by itself'
    fail(`${why} ${after()}`)
  })
  late(startMs, 'its process did not start for')
  tell({ begin })
  try {
    return await end.promise
  } finally {
    clearTimeout(quiet)
    signal.removeEventListener('abort', stop)
    await program.end()
  }
}

function eachLine(
  stream: NodeJS.ReadableStream,
  limits: ChildLimits,
  { hear, fail }: { readonly hear: (line: string) => void; readonly fail: (why: string) => void },
): void {
  let rest = ''
  let total = 0
  stream.setEncoding('utf8').on('data', (text: string) => {
    total += text.length
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    if (total > limits.totalBytes) return fail(`it printed more than ${limits.totalBytes} characters`)
    if (rest.length > limits.lineBytes || lines.some(({ length }) => length > limits.lineBytes))
      return fail(`it printed more than ${limits.lineBytes} characters at once`)
    for (const line of lines) hear(line)
  })
}

/** What the process of a script says; all of it may be made up by the script. */
const ChildWords = z.union([
  z.strictObject({ begun: z.literal(true) }),
  z.strictObject({ id: z.int().positive(), call: z.unknown() }),
  z.strictObject({ done: z.unknown(), atMs: z.number() }),
  z.strictObject({
    failed: z.strictObject({
      message: z.string(),
      line: z.string().max(300).optional(),
    }),
  }),
])

/** The last word of one that did what it was meant to. */
type LastWord = Extract<z.infer<typeof ChildWords>, { done: unknown }>
