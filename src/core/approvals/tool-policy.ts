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
  if (rule) return { action: rule.action, rule: `runtime.approvals[${at}]` }
  const host = tool === 'WebFetch' ? /^https?:\/\/([^/?#:]+)/i.exec(subject)?.[1]?.toLowerCase() : undefined
  if (host !== undefined && web.allow.some((known) => isHost(host, known.toLowerCase())))
    return { action: 'allow', rule: 'runtime.web.allow' }
  return { action: asking.test(tool) ? 'ask' : 'allow', rule: 'default' }
}

const isHost = (host: string, known: string): boolean =>
  known.startsWith('*.') ? host.endsWith(known.slice(1)) : host === known

/** A star stands for anything here: a command is no path. */
function isLike(subject: string, pattern: string): boolean {
  return (
    matchesGlob(subject, pattern) || matchesGlob(subject.replaceAll('/', ' '), pattern.replaceAll('/', ' '))
  )
}
