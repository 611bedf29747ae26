import { wordChars } from './detector.ts'

/** A secret that shows itself by its own shape; `anchors` are literals one of which every match contains. */
export type TokenRule = {
  readonly class: string
  readonly anchors: readonly string[]
  readonly pattern: RegExp
  /** All characters of which at least eight follow an anchor; letters, digits, `_` and `-` if it is not said. */
  readonly follows?: string
  /** Those of them of which the first is one. */
  readonly next?: string
  /** All characters that may stand before an anchor, where it has only one character. */
  readonly before?: string
  /** Nothing is known of what follows an anchor. */
  readonly anywhere?: boolean
  /** Upper and lower case of the anchors are the same. */
  readonly fold?: boolean
}

// An escape such as `\n` or `%3D` glued to a secret ends in a letter or digit, yet is no part of it.
const start = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2}))`

/** A pattern that does not begin in the middle of a word. */
export const after = (body: string): RegExp => new RegExp(start + body)

const shape = (parts: TemplateStringsArray, ...values: string[]): RegExp =>
  after(String.raw(parts, ...values))

const uuid = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}'
const slash = String.raw`\\?/`

const hex = '0123456789abcdef'

// Digits in base64: three of them are four letters.
const twoDigits = '[MNO][DTjz][AEIMQUYcgk]'
const threeDigits = `${twoDigits}[wxyz0-5]`

/** Each of some characters with each of others. */
const pairs = (first: string, second: string): string[] =>
  Array.from(first).flatMap((one) => Array.from(second, (other) => one + other))

/** Tokens that need more than a prefix to be known. */
export const shapedRules: readonly TokenRule[] = [
  {
    class: 'openai-key',
    anchors: ['sk-'],
    // A bare `sk-` also begins CSS classes and package names: one run with a digit in it is asked for.
    pattern: shape`sk-(?:(?:proj|svcacct|admin|service|None)-[A-Za-z0-9_-]{20,}|(?=[A-Za-z]*[0-9])[A-Za-z0-9]{20,})`,
  },
  {
    class: 'aws-access-key',
    anchors: ['AKIA', 'ASIA', 'ABIA', 'ACCA'],
    pattern: shape`A(?:KI|SI|BI|CC)A[A-Z0-9]{16}(?![A-Za-z0-9])`,
  },
  {
    class: 'aws-bedrock-key',
    anchors: ['ABSK', 'bedrock-api-key-'],
    anywhere: true,
    pattern: shape`(?:ABSK[A-Za-z0-9+/]{80,}={0,2}|bedrock-api-key-[A-Za-z0-9+/=]{40,})`,
  },
  { class: 'aws-appsync-key', anchors: ['da2-'], pattern: shape`da2-[a-z0-9]{26}(?![A-Za-z0-9])` },
  { class: 'amazon-mws-key', anchors: ['amzn.mws.'], pattern: shape`amzn\.mws\.${uuid}` },
  {
    class: 'amazon-oauth-secret',
    anchors: ['amzn1.oa2-cs.v1.'],
    pattern: shape`amzn1\.oa2-cs\.v1\.[a-f0-9]{32,}`,
  },
  {
    class: 'azure-client-secret',
    anchors: Array.from('0123456789', (digit) => `${digit}Q~`),
    follows: `${wordChars}~.`,
    pattern: shape`[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,40}`,
  },
  {
    class: 'azure-key',
    anchors: ['AZDO', 'AzFu', 'JQQJ99', '+ASt', 'ACDb', '+AEhC', '+ASbC', '+AIoT'],
    anywhere: true,
    // Azure signs its keys with four letters near the end; what stands before them has a fixed length.
    pattern:
      /(?<![A-Za-z0-9+/_-])(?:[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}|[A-Za-z0-9_-]{44}AzFu[A-Za-z0-9_-]{6}={0,2}|[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{26}|[A-Za-z0-9+/]{76}(?:\+ASt|ACDb)[A-Za-z0-9+/]{5,6}={2}|[A-Za-z0-9+/]{33}\+(?:AEhC|ASbC|AIoT)[A-Za-z0-9+/]{6}=)(?![A-Za-z0-9+/_=-])/,
  },
  { class: 'telegram-token', anchors: [':AA'], pattern: /(?<![0-9])[0-9]{6,12}:AA[A-Za-z0-9_-]{30,}/ },
  {
    class: 'sendgrid-key',
    anchors: ['SG.'],
    pattern: shape`SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`,
  },
  {
    class: 'twilio-key',
    anchors: Array.from(hex, (digit) => `SK${digit}`),
    follows: hex,
    pattern: shape`SK[a-f0-9]{32}(?![A-Za-z0-9])`,
  },
  {
    class: 'mailgun-key',
    anchors: ['-'],
    before: hex,
    follows: hex,
    pattern: /(?<![A-Za-z0-9-])[a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8}(?![A-Za-z0-9-])/,
  },
  {
    class: 'discord-token',
    anchors: pairs('AEIMQUYcgk', 'wxyz012345').flatMap((pair) =>
      ['M', 'N', 'O'].map((third) => pair + third),
    ),
    next: 'DTjz',
    follows: 'MNODTjzAEIMQUYcgkwxyz012345',
    // The account's number in base64, which has 17 to 20 digits; then a time and a signature.
    pattern: shape`(?:${threeDigits}){5}(?:${threeDigits}(?:[MNO][AQgw]|${twoDigits})?|${twoDigits})\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![A-Za-z0-9_-])`,
  },
  {
    class: 'doppler-token',
    anchors: ['dp.pt.', 'dp.st.', 'dp.ct.', 'dp.sa.', 'dp.scim.', 'dp.audit.'],
    anywhere: true,
    pattern: shape`dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[A-Za-z0-9_-]{1,35}\.)?[A-Za-z0-9]{40,}`,
  },
  {
    class: 'terraform-token',
    anchors: ['.atlasv1.'],
    pattern: shape`[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}`,
  },
  {
    class: 'clickhouse-key',
    anchors: ['4b1d'],
    // A hash may begin so, too: capitals or letters after f are asked for.
    pattern: shape`4b1d(?![a-f0-9]{38})[A-Za-z0-9]{38}(?![A-Za-z0-9])`,
  },
  {
    class: 'dynatrace-token',
    anchors: ['dt0c01.', 'dt0s16.', 'dt0s01.'],
    pattern: shape`dt0[cs](?:01|16)\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}`,
  },
  {
    class: 'onepassword-key',
    anchors: ['A3-'],
    follows: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-',
    pattern: shape`A3-[A-Z0-9]{6}-[A-Z0-9]{6}(?:-?[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}(?![A-Z0-9-])`,
  },
  {
    class: 'maxmind-key',
    anchors: ['_mmk'],
    anywhere: true,
    pattern: shape`[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?![A-Za-z0-9])`,
  },
  {
    class: 'hubspot-token',
    anchors: ['pat-na', 'pat-eu', 'pat-ap'],
    anywhere: true,
    pattern: shape`pat-(?:na|eu|ap)[0-9]-${uuid}`,
  },
  {
    class: 'plaid-token',
    anchors: ['access-sandbox-', 'access-production-', 'access-development-'],
    pattern: shape`access-(?:sandbox|production|development)-${uuid}`,
  },
  {
    class: 'paypal-token',
    anchors: ['access_token$production$', 'access_token$sandbox$'],
    pattern: shape`access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}`,
  },
  {
    class: 'mapbox-token',
    anchors: ['sk.eyJ'],
    pattern: shape`sk\.eyJ[A-Za-z0-9_-]{30,}\.[A-Za-z0-9_-]{16,}`,
  },
  { class: 'grafana-token', anchors: ['eyJrIjoi'], pattern: shape`eyJrIjoi[A-Za-z0-9]{60,}={0,3}` },
  {
    class: 'intercom-token',
    anchors: ['dG9rO'],
    anywhere: true,
    pattern: shape`dG9rO[A-Za-z0-9+/]{50,}={0,2}`,
  },
  { class: 'trello-token', anchors: ['ATTA'], pattern: shape`ATTA[a-f0-9]{60,}` },
  {
    class: 'encoded-private-key',
    anchors: ['LS0tLS1CRUdJTi'],
    anywhere: true,
    // "-----BEGIN " in base64, and then what is not a certificate or a public key.
    pattern: shape`LS0tLS1CRUdJTi(?=BSU0|BQUk|BFQy|BPUE|BEU0|BFTk|BQR1AgUFJ|AgUFJ)[A-Za-z0-9+/]{40,}={0,2}`,
  },
  {
    class: 'jwt',
    anchors: ['eyJ'],
    // Three parts, or two when a preview was cut; five parts when it is encrypted.
    // A `-` before it would let one long run be read from each of its beginnings.
    pattern: shape`(?<![_-])eyJ[A-Za-z0-9_-]{8,}(?:\.eyJ[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?|(?:\.[A-Za-z0-9_-]*){4})`,
  },
  {
    class: 'square-token',
    anchors: ['EAAA'],
    pattern: /(?<![A-Za-z0-9+/])EAAA(?!A)[A-Za-z0-9_-]{60}(?![A-Za-z0-9+/=_-])/,
  },
  {
    class: 'facebook-token',
    anchors: ['EAAC', 'EAAM', 'EAAG', 'EAAB'],
    pattern: /(?<![A-Za-z0-9+/])EAA[BCGM][A-Za-z0-9]{90,}(?![A-Za-z0-9+/=_-])/,
  },
]

/** Addresses that are a right by themselves: the host stays readable, the part that opens it goes. */
export const addressRules: readonly TokenRule[] = [
  {
    class: 'muster-login-code',
    anchors: ['/login?code=', 'login%3Fcode%3D'],
    pattern: behind(String.raw`/login(?:\?code=|%3Fcode%3D)`, '[A-Za-z0-9_-]{16,}'),
  },
  {
    class: 'slack-webhook',
    anchors: ['hooks.slack.com', 'hooks.slack-gov.com'],
    anywhere: true,
    pattern: behind(
      String.raw`hooks\.slack(?:-gov)?\.com${slash}(?:services|workflows|triggers)${slash}`,
      String.raw`[A-Z0-9](?:[A-Za-z0-9]|\\?/){19,}`,
    ),
  },
  {
    class: 'discord-webhook',
    anchors: ['/webhooks/', '/webhooks\\/'],
    anywhere: true,
    pattern: behind(
      String.raw`discord(?:app)?\.com${slash}api${slash}(?:v[0-9]{1,2}${slash})?webhooks${slash}[0-9]{15,20}${slash}`,
      '[A-Za-z0-9_-]{40,}',
    ),
  },
  {
    class: 'teams-webhook',
    anchors: ['/webhookb2/'],
    anywhere: true,
    pattern: behind('/webhookb2/', '[A-Za-z0-9@-]{30,}(?:/[A-Za-z0-9-]{8,}){0,4}'),
  },
  {
    class: 'zapier-webhook',
    anchors: ['hooks.zapier.com/hooks/'],
    anywhere: true,
    pattern: behind('hooks[.]zapier[.]com/hooks/catch/', '[0-9]{4,}/[A-Za-z0-9]{5,}'),
  },
  {
    class: 'ifttt-webhook',
    anchors: ['maker.ifttt.com'],
    anywhere: true,
    pattern: behind(
      'maker[.]ifttt[.]com/trigger/[A-Za-z0-9_-]{1,64}(?:/json)?/with/key/',
      '[A-Za-z0-9_-]{18,}',
    ),
  },
  {
    class: 'feishu-webhook',
    anchors: ['/bot/v2/hook/'],
    anywhere: true,
    pattern: behind('/bot/v2/hook/', '[A-Za-z0-9-]{30,}'),
  },
  {
    class: 'wecom-webhook',
    anchors: ['/webhook/send?key='],
    anywhere: true,
    pattern: behind(String.raw`/webhook/send\?key=`, '[A-Za-z0-9-]{30,}'),
  },
  {
    class: 'azure-sas',
    anchors: ['sig='],
    anywhere: true,
    pattern: behind('(?:[?&;]|u0026)sig=', '(?:[A-Za-z0-9+/_-]|%[0-9A-Fa-f]{2}){40,}={0,2}'),
  },
  {
    class: 'signed-url',
    anchors: ['x-amz-signature=', 'x-goog-signature='],
    fold: true,
    pattern: new RegExp('(?<=x-(?:amz|goog)-signature=)[a-f0-9]{40,}', 'i'),
  },
  {
    class: 'sentry-dsn',
    anchors: ['sentry.io/'],
    anywhere: true,
    pattern: behind('://', String.raw`[a-f0-9]{32}(?=@[a-z0-9.-]{0,80}sentry\.io/)`),
  },
]

function behind(place: string, secret: string): RegExp {
  return new RegExp(`(?<=${place})${secret}`)
}

/** A shape too plain to be known by itself: one of these names, separated by spaces, stands before it in the same line. */
export type NamedRule = { readonly class: string; readonly names: string; readonly pattern: RegExp }

export const namedRules: readonly NamedRule[] = [
  {
    class: 'discord-token',
    names: 'discord .login(',
    pattern: shape`[MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![A-Za-z0-9_-])`,
  },
  { class: 'airtable-token', names: 'airtable', pattern: shape`pat[A-Za-z0-9]{14}\.[a-f0-9]{64}` },
  {
    class: 'harness-key',
    names: 'harness',
    pattern: shape`[ps]at\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}`,
  },
  { class: 'dropbox-token', names: 'dropbox', pattern: shape`sl\.[A-Za-z0-9_-]{60,}` },
  { class: 'mailchimp-key', names: 'mailchimp', pattern: shape`[a-f0-9]{32}-us[0-9]{1,2}(?![A-Za-z0-9])` },
  { class: 'resend-key', names: 'resend', pattern: shape`re_[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,}` },
  { class: 'twitter-token', names: 'twitter', pattern: shape`A{20,}[A-Za-z0-9%]{60,}` },
  { class: 'okta-token', names: 'okta', pattern: shape`00[A-Za-z0-9_-]{40}(?![A-Za-z0-9_-])` },
  { class: 'lob-key', names: 'lob.com lob_', pattern: shape`(?:live|test)_[a-f0-9]{35}(?![A-Za-z0-9])` },
  {
    class: 'gocardless-token',
    names: 'gocardless',
    pattern: shape`(?:live|sandbox)_[A-Za-z0-9_=-]{40}(?![A-Za-z0-9])`,
  },
  { class: 'ghost-key', names: 'ghost', pattern: shape`[a-f0-9]{24}:[a-f0-9]{64}(?![A-Za-z0-9])` },
  {
    class: 'authress-key',
    names: 'authress',
    pattern: shape`(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,}`,
  },
  {
    class: 'rancher-token',
    names: 'rancher kubeconfig-',
    pattern: shape`(?<=(?:token|kubeconfig)-[a-z0-9-]{1,40}:)[a-z0-9]{54}(?![a-z0-9])`,
  },
  { class: 'sanity-token', names: 'sanity', pattern: shape`sk[A-Za-z0-9]{100,}` },
  { class: 'crates-token', names: 'crates.io cargo_reg', pattern: shape`cio[A-Za-z0-9]{32}(?![A-Za-z0-9])` },
  { class: 'klaviyo-key', names: 'klaviyo', pattern: shape`pk_[a-f0-9]{34}(?![A-Za-z0-9])` },
  {
    class: 'sidekiq-credentials',
    names: 'contribsys',
    pattern: shape`[a-f0-9]{8}:[a-f0-9]{8}(?![A-Za-z0-9:])`,
  },
  {
    class: 'asana-token',
    names: 'asana',
    pattern: shape`[12]/[0-9]{13,}(?:/[0-9]{13,})?:[a-f0-9]{32}(?![A-Za-z0-9])`,
  },
  {
    class: 'launchdarkly-key',
    names: 'launchdarkly',
    pattern: shape`(?:sdk|api|mob)-${uuid}(?![A-Za-z0-9-])`,
  },
  { class: 'octopus-key', names: 'octopus', pattern: shape`API-[A-Z0-9]{25,36}(?![A-Za-z0-9])` },
  { class: 'woocommerce-key', names: 'woocommerce', pattern: shape`c[ks]_[a-f0-9]{40}(?![A-Za-z0-9])` },
  { class: 'cloudflare-origin-key', names: 'cloudflare', pattern: shape`v1\.0-[a-f0-9]{24}-[a-f0-9]{100,}` },
  { class: 'newrelic-key', names: 'newrelic new_relic', pattern: shape`[a-f0-9]{36}NRAL(?![A-Za-z0-9])` },
  { class: 'alibaba-key', names: 'alibaba aliyun', pattern: shape`LTAI[A-Za-z0-9]{17,26}(?![A-Za-z0-9])` },
  { class: 'infracost-key', names: 'infracost', pattern: shape`ico-[A-Za-z0-9]{32}(?![A-Za-z0-9])` },
  {
    class: 'jetbrains-token',
    names: 'youtrack jetbrains',
    pattern: shape`perm[-:][A-Za-z0-9+/=]{8,}\.[A-Za-z0-9+/=]{2,}\.[A-Za-z0-9+/=]{20,}`,
  },
]
