type Rule = (value: unknown, current: unknown) => boolean

const always: Rule = () => true
const onlyDown: Rule = (value, current) => typeof current === 'number' && Number(value) <= current
const onlyFrom =
  (loosest: unknown): Rule =>
  (value, current) =>
    current === loosest || value === current

// Whatever is not listed needs trust, so a key added later is closed until someone decides about it.
const rules: readonly (readonly [RegExp, Rule])[] = [
  [/^claude\.(agent_configs|presets)\.[^.]+\.model$/, always],
  [/^child_agents\.mode$/, onlyFrom('auto')],
  [/^child_agents\.auto_complete\.require_parent_approval$/, onlyFrom(false)],
  [
    /^child_agents\.auto_complete\.(enabled|idle_timeout|detect_completion_phrases|completion_patterns)$/,
    always,
  ],
  // Not the webhook: it leads out of the machine.
  [/^child_agents\.(notifications\.notify_|progress\.)/, always],
  [/^sessions\.(default_working_dir_behavior|naming\..+)$/, always],
  [/^sessions\.isolation$/, onlyFrom('none')],
  [/^limits\./, onlyDown],
  // Not the models: a provider leads out of the machine, and its key with it.
  [/^runtime\.mode$/, onlyFrom('auto')],
  [/^runtime\.(max_iters|max_concurrent)$/, onlyDown],
]

/** Decides whether an untrusted project file may set a key, given the value that holds without it. */
export function projectMaySet(key: string, value: unknown, current: unknown): boolean {
  return rules.some(([pattern, rule]) => pattern.test(key) && rule(value, current))
}
