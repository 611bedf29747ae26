import * as z from 'zod'
import { AppError } from '../../contract/errors.ts'
import { linked } from '../../contract/linked.ts'
import type { Tool, ToolContext, ToolOutcome } from '../../ports/tools.ts'
import { findPlace } from './place.ts'

type Input = z.ZodType<Readonly<Record<string, unknown>>>

type Definition<I extends Input> = Pick<Tool, 'name' | 'description' | 'category' | 'tidy'> & {
  readonly input: I
  /** The path that a call would change, as the model wrote it. */
  readonly target?: (input: z.output<I>) => string
  readonly run: (input: z.output<I>, context: ToolContext) => Promise<ToolOutcome>
}

/** A tool whose input is checked and whose refusals are answers; only a bug gets out of it. */
export function defineTool<I extends Input>({ target, run, ...rest }: Definition<I>): Tool {
  return {
    ...rest,
    async changes(given, workspace) {
      const parsed = rest.input.safeParse(given)
      if (!parsed.success || !target) return []
      try {
        return [(await findPlace(workspace, target(parsed.data))).relative]
      } catch (error) {
        // The call itself will say so, and change nothing.
        if (reasonOf(error) !== undefined) return []
        throw error
      }
    },
    async run(given, context) {
      const parsed = rest.input.safeParse(given)
      if (!parsed.success)
        return failure(`The input of ${rest.name} is not valid:\n${z.prettifyError(parsed.error)}`)
      try {
        context.signal.throwIfAborted()
        return await run(parsed.data, context)
      } catch (error) {
        if (context.signal.aborted) return failure('The call was cancelled.')
        const reason = reasonOf(error)
        if (reason === undefined) throw error
        return failure(reason)
      }
    },
  }
}

/** An answer that says what went wrong. */
export const failure = (text: string): ToolOutcome => ({ text, isError: true })

function reasonOf(error: unknown): string | undefined {
  if (error instanceof AppError) return error.message
  const { code, path } = error as NodeJS.ErrnoException
  const reason = code === undefined ? undefined : reasons[code]
  return reason && (path === undefined || path.startsWith('/proc/') ? reason : `${path}: ${reason}`)
}

/** What the system refuses for reasons that lie in the files and not in this code. */
const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'this is not permitted',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left on the disk',
  EDQUOT: 'the disk quota is used up',
  ENAMETOOLONG: 'the name is too long',
  ENOTDIR: 'a part of the path is a file, not a folder; look with Glob',
  EISDIR: 'this is a folder',
  ENOENT: 'there is no such file; look for it with Glob',
  ELOOP: 'it was replaced by a link in the meantime; look again and repeat the call',
  ENXIO: 'this is neither a file nor a folder',
  EMFILE: 'too many files are open; repeat the call later',
  ENFILE: 'too many files are open; repeat the call later',
  EIO: 'the disk does not answer',
}

/** What is kept of an output of any length. */
type BoundedOutput = {
  add(text: string): void
  result(): { readonly text: string; readonly isTruncated: boolean }
}

/** Keeps the beginning and the end, and counts what was between them. */
export function boundedOutput(mostChars: number): BoundedOutput {
  const half = Math.floor(mostChars / 2)
  let head = ''
  let tail = ''
  let length = 0
  return {
    add(text) {
      length += text.length
      const room = half - head.length
      if (room > 0) head += text.slice(0, room)
      tail += room > 0 ? text.slice(room) : text
      if (tail.length > 4 * half) tail = tail.slice(-half)
    },
    result() {
      const left = length - head.length - half
      if (left <= 0) return { text: head + tail, isTruncated: false }
      const end = tail.slice(-half)
      const begin = cutText(`${head} `, head.length)
      // The second half of a character says nothing without the first.
      const clean = /^[\uDC00-\uDFFF]/.test(end) ? end.slice(1) : end
      return { text: `${begin}\n[… ${left} characters left out …]\n${clean}`, isTruncated: true }
    },
  }
}

/** The beginning of a text, which never ends in half a character. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text
  const last = text.charCodeAt(most - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? most - 1 : most)
}

/** A signal that follows another one, and ends by itself after a time. */
type Deadline = Disposable & {
  readonly signal: AbortSignal
  /** Whether the time was over before anybody cancelled. */
  isOver(): boolean
}

export function deadline(to: AbortSignal, ms: number): Deadline {
  const link = linked(to)
  let isOver = false
  const timer = setTimeout(() => {
    isOver = !link.signal.aborted
    link.abort()
  }, ms)
  return {
    signal: link.signal,
    isOver: () => isOver,
    [Symbol.dispose]: () => {
      clearTimeout(timer)
      link[Symbol.dispose]()
    },
  }
}

type Environment = Readonly<Record<string, string | undefined>>

/** What programs need to be themselves; keys of providers and tokens of sessions are not among them. */
const passedOn =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|XDG_(CONFIG|DATA|CACHE|STATE)_HOME|SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS|(HTTPS?|NO|ALL)_PROXY|(https?|no|all)_proxy)$/

/** Nobody is there to page through a text or to type a password, and a look at a repository writes nothing into it. */
const quiet = {
  TERM: 'dumb',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
}

/** The environment of what an agent's tools run: a little of the daemon's own, and what it gives on purpose. */
export function toolEnvironment(own: Environment, given: Environment = {}): Record<string, string> {
  const passed = Object.entries(own).filter(([name]) => passedOn.test(name))
  const all = Object.entries({ ...Object.fromEntries(passed), ...quiet, ...given })
  return Object.fromEntries(all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}
