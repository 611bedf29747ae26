/** A secret that shows itself by its own shape; `anchors` are literals one of which every match contains. */
type TokenRule = {
  readonly class: string
  readonly anchors: readonly string[]
  readonly pattern: RegExp
}

// An escape such as `\n` or `%3D` glued to a secret ends in a letter or digit, yet is no part of it.
const start = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2}))`

const after = (body: string): RegExp => new RegExp(start + body)

/** In order of precedence: where two overlap, the earlier one names the marker. */
export const tokenRules: readonly TokenRule[] = [
  { class: 'muster-capability', anchors: ['mst_'], pattern: after('mst_[A-Za-z0-9_-]{16,}') },
  { class: 'anthropic-key', anchors: ['sk-ant-'], pattern: after('sk-ant-[A-Za-z0-9_-]{16,}') },
  { class: 'openrouter-key', anchors: ['sk-or-'], pattern: after('sk-or-[A-Za-z0-9_-]{20,}') },
  {
    class: 'openai-key',
    anchors: ['sk-'],
    // A bare `sk-` also begins CSS classes and package names: one run with a digit in it is asked for.
    pattern: after(
      'sk-(?:(?:proj|svcacct|admin|service|None)-[A-Za-z0-9_-]{20,}|(?=[A-Za-z]*[0-9])[A-Za-z0-9]{20,})',
    ),
  },
  { class: 'google-key', anchors: ['AIza'], pattern: after('AIza[A-Za-z0-9_-]{30,}') },
  {
    class: 'google-oauth',
    anchors: ['ya29.', 'GOCSPX-'],
    pattern: after(String.raw`(?:ya29\.|GOCSPX-)[A-Za-z0-9_-]{20,}`),
  },
  {
    class: 'aws-access-key',
    anchors: ['AKIA', 'ASIA'],
    pattern: after('A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])'),
  },
  {
    class: 'github-token',
    anchors: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'],
    pattern: after('(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})'),
  },
  {
    class: 'gitlab-token',
    anchors: ['glpat-', 'gldt-', 'glrt-', 'glptt-'],
    pattern: after(String.raw`gl(?:pat|dt|rt|ptt)-[A-Za-z0-9_-]{16,}`),
  },
  {
    class: 'slack-token',
    anchors: ['xoxa-', 'xoxb-', 'xoxe-', 'xoxp-', 'xoxr-', 'xoxs-', 'xapp-'],
    pattern: after('(?:xox[abeprs]|xapp)-[A-Za-z0-9-]{10,}'),
  },
  {
    class: 'stripe-key',
    anchors: ['k_live_', 'k_test_', 'whsec_'],
    pattern: after('(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})'),
  },
  { class: 'npm-token', anchors: ['npm_'], pattern: after('npm_[A-Za-z0-9]{36,}') },
  { class: 'huggingface-token', anchors: ['hf_'], pattern: after('hf_[A-Za-z0-9]{30,}') },
  { class: 'groq-key', anchors: ['gsk_'], pattern: after('gsk_[A-Za-z0-9]{40,}') },
  { class: 'xai-key', anchors: ['xai-'], pattern: after('xai-[A-Za-z0-9]{40,}') },
  { class: 'telegram-token', anchors: [':AA'], pattern: /(?<![0-9])[0-9]{6,12}:AA[A-Za-z0-9_-]{30,}/ },
  {
    class: 'sendgrid-key',
    anchors: ['SG.'],
    pattern: after(String.raw`SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`),
  },
  {
    class: 'digitalocean-token',
    anchors: ['dop_v1_', 'doo_v1_', 'dor_v1_'],
    pattern: after('do[opr]_v1_[a-f0-9]{40,}'),
  },
  { class: 'vault-token', anchors: ['hvs.'], pattern: after(String.raw`hvs\.[A-Za-z0-9_-]{24,}`) },
  { class: 'pypi-token', anchors: ['pypi-'], pattern: after('pypi-[A-Za-z0-9_-]{50,}') },
  {
    class: 'age-key',
    anchors: ['AGE-SECRET-KEY-'],
    pattern: after('AGE-SECRET-KEY-[A-Z0-9-]{40,}'),
  },
  {
    class: 'jwt',
    anchors: ['eyJ'],
    // Three parts, or two when a preview was cut; five parts when it is encrypted.
    // A `-` before it would let one long run be read from each of its beginnings.
    pattern: after(
      String.raw`(?<![_-])eyJ[A-Za-z0-9_-]{8,}(?:\.eyJ[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?|(?:\.[A-Za-z0-9_-]*){4})`,
    ),
  },
]
