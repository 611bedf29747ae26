/** A place in a JSON document; the path is only spelled when it is asked for. */
export type Place = { readonly parent?: Place; readonly key: string | number }

export const root: Place = { key: '' }
export const at = (parent: Place, key: string | number): Place => ({ parent, key })

/** The place as a JSON pointer (RFC 6901); the document itself is the empty text. */
export function pointerOf(place: Place): string {
  const steps: string[] = []
  for (let step = place; step.parent; step = step.parent) steps.push(escapeStep(step.key))
  return steps
    .reverse()
    .map((step) => `/${step}`)
    .join('')
}

/** A JSON pointer from the steps of a path. */
export const pointer = (steps: readonly PropertyKey[]): string =>
  steps.map((step) => `/${escapeStep(String(step))}`).join('')

/** The steps of a JSON pointer. */
export const stepsOf = (path: string): string[] =>
  path
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))

const escapeStep = (step: string | number): string => String(step).replaceAll('~', '~0').replaceAll('/', '~1')
