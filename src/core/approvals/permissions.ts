import type { Config } from '../../contract/config.ts'
import type { SignalOf } from '../../contract/signal.ts'
import type { Permit } from '../../contract/values.ts'
import { canonicalTool } from '../delegation/allowed-tools.ts'
import { matchesGlob } from '../delegation/globs.ts'
import { verifies } from '../delegation/verification-command.ts'
import type { Managed } from '../session/managed.ts'
import { callText, riskOf } from './approval-card.ts'

/** Where a permission is asked. */
export type PermitContext = { readonly cli: string; readonly folder: string }

/**
 * What a yes for more than once lets pass from then on: the same command of a program that has commands of its own
 * (`git status`, `npm run test`) with other arguments, a file of the same folder, and else nothing but the very same.
 */
export function permitOf(signal: SignalOf<'asking'>, place: PermitContext): Permit | undefined {
  const asked = permitSubject(signal)
  if (!asked) return undefined
  const { tool, text, isFile } = asked
  const exact: Permit = { ...place, tool, text }
  if (isFile) {
    const slash = text.lastIndexOf('/')
    return slash > 0 ? { ...exact, text: text.slice(0, slash + 1), isPrefix: true } : exact
  }
  const words = subcommand.exec(text.trim().replaceAll(/\s+/g, ' '))?.[0]
  return words !== undefined && isHarmless(tool, text) ? { ...exact, text: words, isPrefix: true } : exact
}

/** Whether something was allowed before for good, or for this session. */
export function isPermitted(
  permits: readonly Permit[],
  signal: SignalOf<'asking'>,
  { cli, folder }: PermitContext,
): boolean {
  const asked = permitSubject(signal)
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

const subcommand =
  /^(?:git|npm|pnpm|yarn|bun|cargo|go|make|just|docker|kubectl|pip|uv)(?: run)? [a-z][\w:-]*(?= |$)/

const isHarmless = (tool: string, command: string): boolean =>
  simpleCommand.test(command) && riskOf(tool, { command }) !== 'high'

/** One command that a shell does not take apart and in which it expands nothing. */
const simpleCommand = /^(?:[\w@%+=:,./ -]|"[^"$`\\]*"|'[^']*')+$/

const isWithin = (folder: string, path: string): boolean =>
  path.startsWith(folder) && !path.split('/').includes('..')

const mostPermitText = 4000

type Asked = { readonly tool: string; readonly text: string; readonly isFile: boolean }

function permitSubject({ ask, tool, input }: SignalOf<'asking'>): Asked | undefined {
  if (ask !== 'permission' || tool === undefined || typeof input !== 'object' || input === null)
    return undefined
  const given = input as Record<string, unknown>
  const isFile =
    given['command'] === undefined &&
    (typeof given['file_path'] === 'string' || typeof given['path'] === 'string')
  const text = callText(given)
  // What is too long to be kept whole is asked for each time.
  return text.length > mostPermitText ? undefined : { tool, text, isFile }
}

const most = 500
const none: readonly Permit[] = []

/** The permits after one more; the oldest go when there are too many, and are asked for again. */
export function withPermit(permits: readonly Permit[] = none, permit: Permit | undefined): readonly Permit[] {
  if (!permit) return permits
  const key = JSON.stringify(permit)
  return [...permits.filter((other) => JSON.stringify(other) !== key), permit].slice(-most)
}

type Settings = Pick<Config['runtime'], 'approvals' | 'web'>

type Rule = Settings['approvals'][number]

/** What a rule says to a call. */
type PolicyAnswer = { readonly action: Rule['action']; readonly rule: string }

/** What asks unless a rule says otherwise: it reaches beyond this machine. */
const asking = /^(WebFetch|mcp__.*)$/

/** Whether a call is run, asked about or refused: the first rule that fits decides. */
export function toolPolicy(
  { approvals: rules, web }: Settings,
  { tool, input }: { readonly tool: string; readonly input: unknown },
): PolicyAnswer {
  const given = typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {}
  const subject = callText(given)
  const at = rules.findIndex(
    (rule) =>
      (rule.tool === '*' || rule.tool === tool) &&
      (rule.pattern === undefined || isLike(subject, rule.pattern)),
  )
  const rule = rules[at]
  const host = tool === 'WebFetch' ? hostOf(subject) : undefined
  const isNamed = (names: readonly string[]) => host !== undefined && names.some((name) => isHost(host, name))
  if (isNamed(web.deny)) return { action: 'deny', rule: 'runtime.web.deny' }
  if (rule) return { action: rule.action, rule: `runtime.approvals[${at}]` }
  if (isNamed(web.allow)) return { action: 'allow', rule: 'runtime.web.allow' }
  return { action: asking.test(tool) ? 'ask' : 'allow', rule: 'default' }
}

const hostOf = (url: string): string | undefined => /^https?:\/\/([^/?#:]+)/i.exec(url)?.[1]?.toLowerCase()

const isHost = (host: string, known: string): boolean =>
  known.startsWith('*.') ? host.endsWith(known.slice(1).toLowerCase()) : host === known.toLowerCase()

/** A star stands for anything here: a command is no path. */
function isLike(subject: string, pattern: string): boolean {
  return (
    matchesGlob(subject, pattern) || matchesGlob(subject.replaceAll('/', ' '), pattern.replaceAll('/', ' '))
  )
}

/**
 * Whether an agent at the work of a workflow needs nobody's yes: its role has the tool, and the command only tests,
 * checks, builds or looks, as Muster itself does with the result. What is let through here has passed the gate before.
 */
export function needsNoApproval(
  session: Managed | undefined,
  parent: Managed | undefined,
  { ask, tool, input }: SignalOf<'asking'>,
): boolean {
  if (parent?.origin !== 'workflow' || session?.policy === undefined) return false
  if (ask !== 'permission' || tool === undefined || canonicalTool(tool) !== 'Bash') return false
  const command =
    typeof input === 'object' && input !== null && 'command' in input ? input.command : undefined
  return typeof command === 'string' && verifies(command).ok
}
