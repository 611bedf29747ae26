import { AppError } from './errors.ts'

/** Turns what the file system says about a file that a person named into a refusal; anything else stays a bug. */
export function fileProblem(error: unknown, file: string): unknown {
  const { code } = error as NodeError
  if (code === undefined || error instanceof AppError) return error
  const says = words[code]
  if (says) return new AppError(says[0], `${file} ${says[1]}`, { cause: error })
  return systemCodes.test(code)
    ? new AppError('failed', `${file} cannot be used (${code}); name another file`, { cause: error })
    : error
}

type NodeError = { readonly code?: string }

/** What the system calls its errors; what Node itself has to say about a call begins with ERR_ and is a bug. */
const systemCodes = /^E(?!RR_)[A-Z0-9]+$/

const words: Readonly<
  Record<string, readonly ['not_found' | 'invalid' | 'denied' | 'conflict', string] | undefined>
> = {
  ENOENT: ['not_found', 'does not exist; check the path'],
  ENOTDIR: ['not_found', 'does not exist; check the path'],
  ENAMETOOLONG: ['not_found', 'does not exist: no file has so long a name; check the path'],
  EISDIR: ['invalid', 'is a folder; name a file'],
  EACCES: ['denied', 'cannot be opened; check its owner and permissions'],
  EPERM: ['denied', 'cannot be opened; check its owner and permissions'],
  EROFS: ['denied', 'is on a disk that cannot be written; choose another place'],
  EEXIST: ['conflict', 'already exists; choose another name, files are never overwritten'],
}

/** A device such as /dev/zero never ends, so reading it would. */
export const neverEnds = (file: string): AppError =>
  new AppError('invalid', `${file} is a device; name a file`)
