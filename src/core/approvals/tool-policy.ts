import type { Config } from '../../contract/config.ts'
import { matchesGlob } from '../delegation/matches-glob.ts'
import { subjectOf } from './card.ts'

type Settings = Pick<Config['runtime'], 'approvals' | 'web'>
type Rule = Settings['approvals'][number]

/** What a rule says to a call. */
export type PolicyAnswer = { readonly action: Rule['action']; readonly rule: string }

/** What asks unless a rule says otherwise: it reaches beyond this machine. */
const asking = /^(WebFetch|mcp__.*)$/

/** Whether a call is run, asked about or refused: the first rule that fits decides. */
export function toolPolicy(
  { approvals: rules, web }: Settings,
  { tool, input }: { readonly tool: string; readonly input: unknown },
): PolicyAnswer {
  const given = typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {}
  const subject = subjectOf(given)
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
