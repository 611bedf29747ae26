import { AppError } from '../../contract/errors.ts'
import type { ToolContext } from '../../ports/tools.ts'
import type { Place } from '../system/place.ts'

/** How globs are read; one meaning for gates and tools. */
export type MatchesGlob = (path: string, glob: string) => boolean

/** Whether a path lies within every limit. */
export const isWithin = (path: string, limits: ToolContext['writable'], matchesGlob: MatchesGlob): boolean =>
  limits.every((globs) => globs.some((glob) => matchesGlob(path, glob)))

/** The gates looked before; a link may have been put into the path since. */
export function mustBeChangeable({ relative }: Place, context: ToolContext, matchesGlob: MatchesGlob): void {
  const { mayChange, writable } = context
  if (!mayChange)
    throw new AppError('denied', `${relative} may not be changed; report what should be done instead`)
  if (relative === '') throw new AppError('invalid', 'this is the folder of the project; name a file in it')
  const broken = writable.find((globs) => !isWithin(relative, [globs], matchesGlob))
  if (broken)
    throw new AppError(
      'denied',
      `${relative} is outside of what may be changed (${broken.join(', ')}); leave it as it is`,
    )
  // Hooks and settings in there are programs that run later and outside of any gate.
  if (relative.toLowerCase().split('/').includes('.git'))
    throw new AppError('denied', `${relative} belongs to git; change it by running git`)
}
