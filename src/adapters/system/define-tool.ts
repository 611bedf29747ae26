import * as z from 'zod'
import { AppError } from '../../contract/errors.ts'
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
        return failure(`The input does not fit ${rest.name}:\n${z.prettifyError(parsed.error)}`)
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
  ELOOP: 'a link was put there meanwhile; look again and repeat the call',
  ENXIO: 'this is neither a file nor a folder',
  EMFILE: 'too many files are open; repeat the call later',
  ENFILE: 'too many files are open; repeat the call later',
  EIO: 'the disk does not answer',
}
