import type { SignalOf } from '../../contract/signal.ts'
import type { Permit } from '../../contract/values.ts'
import { riskOf, subjectOf } from './card.ts'

/** Where a permission is asked. */
export type PermitPlace = { readonly cli: string; readonly folder: string }

/**
 * What a yes for more than once lets pass from then on: the same command of a program that has commands of its own
 * (`git status`, `npm run test`) with other arguments, a file of the same folder, and else nothing but the very same.
 */
export function permitOf(signal: SignalOf<'asking'>, place: PermitPlace): Permit | undefined {
  const asked = askedOf(signal)
  if (!asked) return undefined
  const { tool, text, isFile } = asked
  const exact: Permit = { ...place, tool, text }
  if (isFile) {
    const slash = text.lastIndexOf('/')
    return slash > 0 ? { ...exact, text: text.slice(0, slash + 1), isPrefix: true } : exact
  }
  const words = beginning.exec(text.trim().replaceAll(/\s+/g, ' '))?.[0]
  return words !== undefined && isHarmless(tool, text) ? { ...exact, text: words, isPrefix: true } : exact
}

/** Whether something was allowed before for good, or for this session. */
export function isPermitted(
  permits: readonly Permit[],
  signal: SignalOf<'asking'>,
  { cli, folder }: PermitPlace,
): boolean {
  const asked = askedOf(signal)
  if (!asked) return false
  return permits.some((permit) => {
    if (permit.cli !== cli || permit.folder !== folder || permit.tool !== asked.tool) return false
    if (!permit.isPrefix) return permit.text === asked.text
    if (asked.isFile) return isWithin(permit.text, asked.text)
    const text = asked.text.trim().replaceAll(/\s+/g, ' ')
    const isSame = text === permit.text || text.startsWith(`${permit.text} `)
    return isSame && isHarmless(asked.tool, asked.text)
  })
}

const beginning =
  /^(?:git|npm|pnpm|yarn|bun|cargo|go|make|just|docker|kubectl|pip|uv)(?: run)? [a-z][\w:-]*(?= |$)/

const isHarmless = (tool: string, command: string): boolean =>
  simple.test(command) && riskOf(tool, { command }) !== 'high'

/** One command that a shell does not take apart and in which it expands nothing. */
const simple = /^(?:[\w@%+=:,./ -]|"[^"$`\\]*"|'[^']*')+$/

const isWithin = (folder: string, path: string): boolean =>
  path.startsWith(folder) && !path.split('/').includes('..')

const most = 4000

type Asked = { readonly tool: string; readonly text: string; readonly isFile: boolean }

function askedOf({ ask, tool, input }: SignalOf<'asking'>): Asked | undefined {
  if (ask !== 'permission' || tool === undefined || typeof input !== 'object' || input === null)
    return undefined
  const given = input as Record<string, unknown>
  const isFile =
    given['command'] === undefined &&
    (typeof given['file_path'] === 'string' || typeof given['path'] === 'string')
  const text = subjectOf(given)
  // What is too long to be kept whole is asked for each time.
  return text.length > most ? undefined : { tool, text, isFile }
}
