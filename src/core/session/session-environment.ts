import { agentClis } from '../../contract/agent-clis.ts'
import type { AgentCliName } from '../../contract/config/names.ts'
import type { Isolation } from '../../contract/values.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** What a program needs to be itself at all, whatever the allow-list says. */
const always =
  /^(HOME|USER|LOGNAME|SHELL|LANG|LC_[A-Z]+|TZ|TMPDIR|COLORTERM|XDG_[A-Z_]+|(HTTPS?|NO|ALL)_PROXY|(https?|no|all)_proxy|SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS)$/

/** Never taken over: they would make a new session believe that it runs inside another. */
const marks = [
  /^(TMUX\w*|MUSTER_\w+|TRACEPARENT|TRACESTATE)$/,
  ...Object.values(agentClis).flatMap(({ sessionMarks }) => sessionMarks ?? []),
]

/** The part of an environment that a session may take over. */
export function inheritedVariables(
  from: Environment,
  { cli, allowed }: { cli: AgentCliName; allowed: readonly string[] },
): Record<string, string> {
  const names = new Set(allowed)
  const { environment } = agentClis[cli]
  const taken: Record<string, string> = {}
  for (const [name, value] of Object.entries(from)) {
    if (value === undefined || (!names.has(name) && marks.some((mark) => mark.test(name)))) continue
    if (names.has(name) || always.test(name) || environment.test(name)) taken[name] = value
  }
  return taken
}

/** Who a session is, for the programs that run in it. */
export type SessionIdentity = {
  readonly sessionId: string
  readonly home: string
  readonly depth: number
  readonly traceId: string
  readonly spanId: string
  readonly parentId?: string | undefined
  readonly isolation: Isolation
  readonly binFolder: string
  /** What bash reads before every command line, so that a login shell keeps the PATH. */
  readonly shellStart: string
}

/** The environment of a session but for its token: what it inherits, who it is, and exactly this `sm` first on its PATH. */
export function sessionEnvironment(
  taken: Readonly<Record<string, string>>,
  who: SessionIdentity,
): Record<string, string> {
  const path = taken['PATH'] ?? '/usr/local/bin:/usr/bin:/bin'
  const attributes = [
    `muster.session_id=${who.sessionId}`,
    ...(who.parentId ? [`muster.parent_id=${who.parentId}`] : []),
  ]
  return {
    ...taken,
    PATH: `${who.binFolder}:${path}`,
    BASH_ENV: who.shellStart,
    ...(taken['BASH_ENV'] && { MUSTER_BASH_ENV: taken['BASH_ENV'] }),
    MUSTER_HOME: who.home,
    MUSTER_SESSION: who.sessionId,
    MUSTER_DEPTH: String(who.depth),
    ...(who.parentId && { MUSTER_PARENT: who.parentId }),
    ...(who.isolation !== 'none' && { MUSTER_ISOLATION: who.isolation }),
    TRACEPARENT: `00-${who.traceId}-${who.spanId}-01`,
    OTEL_RESOURCE_ATTRIBUTES: attributes.join(','),
  }
}
