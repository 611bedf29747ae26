type Environment = Readonly<Record<string, string | undefined>>

/** What programs need to be themselves; keys of providers and tokens of sessions are not among them. */
const passedOn =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|XDG_(CONFIG|DATA|CACHE|STATE)_HOME|SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS|(HTTPS?|NO|ALL)_PROXY|(https?|no|all)_proxy)$/

/** Nobody is there to page through a text or to type a password, and a look at a repository writes nothing into it. */
const quiet = {
  TERM: 'dumb',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
}

/** The environment of what an agent's tools run: a little of the daemon's own, and what it gives on purpose. */
export function toolEnvironment(own: Environment, given: Environment = {}): Record<string, string> {
  const passed = Object.entries(own).filter(([name]) => passedOn.test(name))
  const all = Object.entries({ ...Object.fromEntries(passed), ...quiet, ...given })
  return Object.fromEntries(all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}
