import { AppError } from '../../contract/errors.ts'

const cures: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full; free some space, the daemon goes on by itself',
  EDQUOT: 'the disk quota is used up; free some space, the daemon goes on by itself',
  EROFS: 'the file system is read-only; remount it writable, then: sm up',
  EACCES: 'the state folder is not writable by this user; give it back with chown or chmod, then: sm up',
  EIO: 'the disk reported an I/O error; check it (dmesg), move the state folder if needed, then: sm up',
}

/** What the operating system said, in words that name the cure. */
export function writeFailure(cause: unknown): AppError {
  const errno = (cause as NodeJS.ErrnoException | undefined)?.code ?? 'unknown'
  const message = `the journal could not be written (${errno}): ${cures[errno] ?? 'see the daemon log'}`
  return new AppError('unavailable', message, { cause, details: { errno } })
}
