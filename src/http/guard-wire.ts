import { AppError } from '../contract/errors.ts'
import { wireVersions } from '../contract/wire.ts'

/** The header that carries the wire version, on requests and answers alike. */
export const wireHeader = 'muster-wire'

/** Refuses a caller whose version is not spoken here, and says which side to upgrade. */
export function guardWire(
  version: string | undefined,
  spoken: { current: number; oldest: number } = wireVersions,
): void {
  if (version === undefined) return
  const { current, oldest } = spoken
  const range = oldest === current ? `${current}` : `${oldest} to ${current}`
  if (!/^\d{1,6}$/.test(version))
    throw new AppError('invalid', `${wireHeader} must be a number; this daemon speaks ${range}`)
  if (Number(version) < oldest)
    throw new AppError(
      'invalid',
      `the caller speaks wire version ${version}, this daemon ${range}; upgrade the caller`,
    )
  if (Number(version) > current)
    throw new AppError(
      'invalid',
      `the caller speaks wire version ${version}, this daemon ${range}; upgrade the daemon with \`sm up --replace\``,
    )
}
