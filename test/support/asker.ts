import type { Asker } from '../../src/contract/principal.ts'

/** Somebody who asks for something, with the proof that the daemon would have of a person. */
export const asker = (name: string): Asker => ({ name, by: { kind: 'operator', id: 'cli' } })
