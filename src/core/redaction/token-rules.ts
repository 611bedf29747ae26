import { wordChars } from './detector.ts'
import { addressRules, after, shapedRules, type TokenRule } from './shaped-rules.ts'

const alphabets = {
  hex: 'a-f0-9',
  anyHex: 'A-Fa-f0-9',
  lower: 'a-z0-9',
  upper: 'A-Z0-9',
  letters: 'A-Za-z0-9',
  word: 'A-Za-z0-9_-',
  base64: 'A-Za-z0-9+/=_-',
  dotted: 'A-Za-z0-9._=-',
} as const

/** Prefixes, separated by spaces, what follows one of them, and at least how much of it. */
type PrefixRow = readonly [
  secretClass: string,
  prefixes: string,
  alphabet: keyof typeof alphabets,
  atLeast: number,
]

function prefixRule([secretClass, prefixes, alphabet, atLeast]: PrefixRow): TokenRule {
  const anchors = prefixes.split(' ')
  const either = anchors.map((prefix) => prefix.replace(/[.$]/g, String.raw`\$&`)).join('|')
  // A name in a program begins like a token and goes on in words: one case, no digit.
  const isName = String.raw`(?![a-z_-]{${atLeast}}|[A-Z_-]{${atLeast}})`
  const body = `(?:${either})${/hex|upper/i.test(alphabet) ? '' : isName}[${alphabets[alphabet]}]{${atLeast},}`
  // The full stop of a sentence is no part of the token before it.
  const pattern = after(alphabet === 'dotted' ? String.raw`${body}(?<!\.)` : body)
  return { class: secretClass, anchors, pattern, follows: charactersOf(alphabets[alphabet]) }
}

function charactersOf(alphabet: string): string {
  const member = new RegExp(`[${alphabet}]`)
  return Array.from(`${wordChars}+/=.`)
    .filter((char) => member.test(char))
    .join('')
}

const modelProviders: readonly PrefixRow[] = [
  ['anthropic-key', 'sk-ant-', 'word', 16],
  ['openrouter-key', 'sk-or-', 'word', 20],
  ['langfuse-key', 'sk-lf-', 'word', 30],
  ['helicone-key', 'sk-helicone-', 'word', 20],
  ['groq-key', 'gsk_', 'letters', 40],
  ['xai-key', 'xai-', 'letters', 40],
  ['perplexity-key', 'pplx-', 'letters', 32],
  ['replicate-token', 'r8_', 'letters', 32],
  ['together-key', 'tgp_v1_', 'word', 32],
  ['huggingface-token', 'hf_ api_org_', 'letters', 30],
  ['nvidia-key', 'nvapi-', 'word', 40],
  ['cerebras-key', 'csk-', 'letters', 40],
  ['tavily-key', 'tvly-', 'word', 24],
  ['jina-key', 'jina_', 'word', 40],
  ['e2b-key', 'e2b_', 'hex', 32],
  ['firecrawl-key', 'fc-', 'hex', 32],
  ['pinecone-key', 'pcsk_', 'word', 40],
  ['langsmith-key', 'lsv2_pt_ lsv2_sk_', 'word', 32],
  ['anyscale-key', 'esecret_', 'letters', 20],
  ['databricks-token', 'dapi dose', 'hex', 32],
]

const sourceAndPackages: readonly PrefixRow[] = [
  ['github-token', 'ghp_ gho_ ghu_ ghs_ ghr_', 'letters', 20],
  ['github-token', 'github_pat_', 'word', 20],
  [
    'gitlab-token',
    'glpat- gldt- glrt- glptt- glcbt- glffct- glft- glimt- glagent- gloas- glsoat- GR1348941',
    'dotted',
    16,
  ],
  ['bitbucket-token', 'ATBB', 'letters', 32],
  ['atlassian-token', 'ATATT3 ATCTT3', 'base64', 60],
  ['npm-token', 'npm_', 'letters', 36],
  ['pypi-token', 'pypi-', 'word', 50],
  ['rubygems-token', 'rubygems_', 'hex', 40],
  ['nuget-key', 'oy2', 'lower', 43],
  ['clojars-token', 'CLOJARS_', 'letters', 50],
  ['docker-token', 'dckr_pat_ dckr_oat_', 'word', 20],
  ['circleci-token', 'CCIPAT_ CCIPRJ_', 'word', 40],
  ['buildkite-token', 'bkua_ bkaj_ bkct_', 'hex', 32],
  ['sonar-token', 'sqp_ sqa_ squ_', 'hex', 40],
  ['sourcegraph-token', 'sgp_local_ sgp_ slk_', 'anyHex', 40],
  ['jfrog-token', 'AKCp cmVmd', 'letters', 56],
  ['postman-key', 'PMAK-', 'word', 50],
  ['pulumi-token', 'pul-', 'hex', 40],
  ['typeform-token', 'tfp_', 'dotted', 40],
  ['readme-key', 'rdme_', 'lower', 60],
  ['wakatime-key', 'waka_', 'word', 36],
]

const cloudAndData: readonly PrefixRow[] = [
  ['google-key', 'AIza', 'word', 30],
  ['google-oauth', 'ya29. GOCSPX-', 'word', 20],
  ['google-oauth', '1//0', 'word', 40],
  ['tencent-key', 'AKID', 'letters', 32],
  ['yandex-key', 'AQVN YCAJE', 'word', 19],
  ['digitalocean-token', 'dop_v1_ doo_v1_ dor_v1_', 'hex', 40],
  ['cloudflare-token', 'cfk_ cfut_ cfat_', 'letters', 40],
  ['vercel-token', 'vcp_ vci_ vca_ vcr_ vck_', 'letters', 24],
  ['netlify-token', 'nfp_ nfc_ nfo_ nfu_', 'letters', 36],
  ['render-key', 'rnd_', 'letters', 28],
  ['heroku-key', 'HRKU-', 'word', 36],
  ['fly-token', 'fo1_', 'word', 40],
  ['fly-token', 'fm1a_ fm1r_ fm1_ fm2_', 'base64', 60],
  ['supabase-token', 'sbp_ sbp_oauth_ sbp_v0_', 'hex', 40],
  ['supabase-token', 'sb_secret_', 'word', 20],
  ['neon-key', 'napi_', 'letters', 40],
  ['planetscale-token', 'pscale_tkn_ pscale_oauth_ pscale_pw_', 'dotted', 32],
  ['mongodb-key', 'mdb_sa_sk_', 'word', 32],
  ['cockroach-key', 'CCDB1_', 'word', 40],
  ['confluent-key', 'cflt', 'base64', 60],
  ['dbt-token', 'dbtc_ dbts_ dbtu_', 'word', 32],
  ['prefect-key', 'pnu_ pnb_', 'letters', 36],
  ['vault-token', 'hvs. hvb. hvr.', 'word', 24],
  ['onepassword-token', 'ops_eyJ', 'base64', 100],
  ['age-key', 'AGE-SECRET-KEY-', 'upper', 40],
  ['tailscale-key', 'tskey-', 'word', 24],
  ['openshift-token', 'sha256~', 'word', 40],
  ['grafana-token', 'glsa_ glc_', 'base64', 32],
  ['newrelic-key', 'NRAK-', 'upper', 27],
  ['newrelic-key', 'NRJS- NRRA-', 'hex', 19],
  ['newrelic-key', 'NRII-', 'word', 32],
  ['honeycomb-key', 'hcaik_ hcbik_ hcxik_ hcamk_', 'letters', 32],
  ['axiom-token', 'xaat- xapt-', 'word', 36],
  ['posthog-key', 'phx_ phs_', 'word', 40],
  ['sentry-token', 'sntrys_ sntryu_ sntrya_ sntryi_', 'base64', 40],
  ['scalingo-token', 'tk-us-', 'word', 40],
  ['deno-token', 'ddp_ ddo_', 'letters', 36],
  ['inngest-key', 'signkey-prod- signkey-test- signkey-branch-', 'hex', 32],
  ['trigger-key', 'tr_prod_ tr_dev_ tr_stg_', 'letters', 20],
]

const businessServices: readonly PrefixRow[] = [
  [
    'slack-token',
    'xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp- xoxe.xoxb- xoxe.xoxp-',
    'word',
    10,
  ],
  ['stripe-key', 'sk_live_ rk_live_ sk_test_ rk_test_ sk_prod_ rk_prod_', 'letters', 16],
  ['stripe-key', 'whsec_', 'base64', 24],
  ['checkout-key', 'sk_sbox_', 'word', 20],
  ['elevenlabs-key', 'sk_', 'hex', 40],
  ['square-token', 'sq0atp- sq0csp-', 'word', 22],
  ['razorpay-key', 'rzp_live_ rzp_test_', 'letters', 14],
  ['flutterwave-key', 'FLWSECK_TEST- FLWSECK-', 'word', 12],
  ['duffel-token', 'duffel_live_ duffel_test_', 'base64', 40],
  ['easypost-key', 'EZAK EZTK', 'letters', 54],
  ['shippo-token', 'shippo_live_ shippo_test_', 'anyHex', 40],
  ['paddle-key', 'pdl_live_apikey_ pdl_sdbx_apikey_', 'word', 32],
  ['polar-token', 'polar_oat_ polar_pat_', 'letters', 30],
  ['shopify-token', 'shpat_ shpca_ shppa_ shpss_ shptka_', 'anyHex', 32],
  ['linear-token', 'lin_api_ lin_oauth_ lin_wh_', 'letters', 32],
  ['notion-token', 'secret_', 'letters', 43],
  ['notion-token', 'ntn_', 'letters', 40],
  ['figma-token', 'figd_ figu_', 'word', 38],
  ['contentful-token', 'CFPAT-', 'word', 40],
  ['frameio-token', 'fio-u-', 'base64', 60],
  ['brevo-key', 'xkeysib- xsmtpsib-', 'word', 64],
  ['mailgun-key', 'key-', 'hex', 32],
  ['instagram-token', 'IGQV IGAA', 'word', 90],
  ['linkedin-token', 'WPL_AP1.', 'dotted', 20],
  ['adobe-secret', 'p8e-', 'word', 32],
  ['onesignal-key', 'os_v2_app_ os_v2_org_', 'lower', 40],
  ['stytch-secret', 'secret-live- secret-test-', 'base64', 36],
  ['settlemint-token', 'sm_aat_ sm_pat_ sm_sat_', 'letters', 16],
  ['intra42-secret', 's-s4t2ud- s-s4t2af-', 'hex', 60],
  ['definednet-key', 'dnkey-', 'base64', 60],
]

/** In order of precedence: where two overlap, the earlier one names the marker. */
export const tokenRules: readonly TokenRule[] = [
  prefixRule(['muster-capability', 'mst_ mop_ mbr_', 'word', 16]),
  ...[modelProviders, sourceAndPackages, cloudAndData, businessServices].flatMap((rows) =>
    rows.map(prefixRule),
  ),
  ...shapedRules,
  ...addressRules,
]
