import { AppError } from '../../contract/errors.ts'
import type { MatchesGlob } from './may-change.ts'

const mostStars = 3
const mostWide = 4

/**
 * A glob of a model, as a question to paths below a folder. One without a slash names files at any depth. Those that
 * would take long to compare are refused.
 */
export function globPattern(glob: string, matchesGlob: MatchesGlob): (path: string) => boolean {
  const wide = glob.split('**').length - 1
  const stars = Math.max(...glob.split('/').map((part) => part.replaceAll('**', '').split('*').length - 1))
  if (wide > mostWide || stars > mostStars)
    throw new AppError(
      'invalid',
      `${glob} has too many stars; use at most ${mostWide} times ** and ${mostStars} stars between two slashes`,
    )
  if (glob.startsWith('/') || glob.split('/').includes('..'))
    throw new AppError(
      'invalid',
      `${glob} leaves the folder; name the folder in path and keep the pattern below it`,
    )
  const whole = glob.includes('/') ? glob : `**/${glob}`
  return (path) => matchesGlob(path, whole)
}
