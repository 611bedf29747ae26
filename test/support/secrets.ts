/** A made-up secret, the class it is redacted as, and a text in which it could really stand. */
export type PlantedSecret = { readonly class: string; readonly secret: string; readonly text: string }

/** Secrets of every class, the same for the same number. No line of this file looks like a real key. */
export function plantedSecrets(seed = 1): PlantedSecret[] {
  const random = createRandom(seed)
  return [...tokens(random), ...headers(random), ...urls(random), ...assigned(random), ...keys(random)]
}

/** A value to be told to the redactor, and the ways it may be written in a log. */
export function plantedKnownValue(seed = 1): { value: string; forms: Record<string, string> } {
  const random = createRandom(seed + 7919)
  const value = `${random.text(alphanumeric, 9)}/+ "${random.text(alphanumeric, 11)}é`
  const base64 = (before: string): string => Buffer.from(`${before}${value}:after`).toString('base64')
  return {
    value,
    forms: {
      plain: `the value is ${value}, used below`,
      json: `{"nested":${JSON.stringify(value)}}`,
      'json in json': JSON.stringify(JSON.stringify({ a: value })),
      url: `https://example.test/?q=${encodeURIComponent(value)}&x=1`,
      'base64 at 0': base64('abc'),
      'base64 at 1': base64('a'),
      'base64 at 2': base64('ab'),
      'url-safe base64': Buffer.from(`u:${value}`).toString('base64url'),
      hex: Buffer.from(value).toString('hex'),
      'hex with colons': hexPairs(value).join(':').toUpperCase(),
      'escaped bytes': hexPairs(value)
        .map((pair) => String.raw`\x${pair}`)
        .join(''),
      'escaped characters': Array.from(
        value,
        (char) => String.raw`\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
      ).join(''),
      'every byte in percent': hexPairs(value)
        .map((pair) => `%${pair.toUpperCase()}`)
        .join(''),
      entities: `<a title="${value.replaceAll('"', '&quot;')}">`,
      'over two lines': `the value is ${broken(value, '\n    ')}, used below`,
      'over a continued line': `tool ${broken(value, '\\\n')} --verbose`,
      'over an escaped line break': `{\\"text\\":\\"${broken(value, '\\n')} end\\"}`,
      'in two literals': `const value = '${broken(value, "' + '")}'`,
      'in two literals on two lines': `x = "${broken(value, '" +\n  "')}"`,
      'base64 over lines': base64('abc').replace(/.{32}/g, '$&\r\n'),
      'hex over lines': Buffer.from(value).toString('hex').replace(/.{24}/g, '$&\n'),
    },
  }
}

function hexPairs(value: string): string[] {
  return Buffer.from(value).toString('hex').match(/../g) ?? []
}

/** Broken near its end, behind the characters that are escaped in some spellings. */
function broken(value: string, by: string): string {
  return `${value.slice(0, -6)}${by}${value.slice(-6)}`
}

/** Fields whose name alone makes their value a secret. */
export function plantedFields(seed = 1): { key: string; value: string }[] {
  const random = createRandom(seed + 104_729)
  const names = `password passwd dbPassword user_password passphrase secret client_secret clientSecret token accessToken
    access_token refresh_token id-token x-auth-token api_key apiKey X-Api-Key authorization Proxy-Authorization cookie
    Set-Cookie private_key privateKey secretAccessKey credential credentials AWS_SECRET_ACCESS_KEY GITHUB_TOKEN
    SIGNING_KEY DB_PASS MYSQL_PWD`
  return names.split(/\s+/).map((key) => ({ key, value: `plain ${random.text(lower, 12)}` }))
}

const lower = 'abcdefghijklmnopqrstuvwxyz'
const upper = lower.toUpperCase()
const digits = '0123456789'
const alphanumeric = lower + upper + digits
const urlSafe = `${alphanumeric}_-`
const hex = `${digits}abcdef`

type Random = { readonly text: (alphabet: string, length: number) => string }

/** Always a letter and a digit in it, as in real keys; the last character is a plain one. */
function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const pick = (alphabet: string): string => alphabet[Math.floor(next() * alphabet.length)]!
  return {
    text(alphabet, length) {
      const body = Array.from({ length: length - 3 }, () => pick(alphabet)).join('')
      const plain = (set: string): string => (alphabet.includes(set[0]!) ? pick(set) : pick(alphabet))
      return plain(alphabet.includes('a') ? 'abcdef' : upper) + body + plain(digits) + plain(digits)
    },
  }
}

function tokens(random: Random): PlantedSecret[] {
  const rows: [secretClass: string, prefix: string, body: string, text: (secret: string) => string][] = [
    [
      'muster-capability',
      'mst' + '_',
      random.text(urlSafe, 32),
      (s) => `MUSTER_CAPABILITY is ${s} for this session`,
    ],
    [
      'anthropic-key',
      'sk-' + 'ant-api03-',
      random.text(urlSafe, 95),
      (s) => `curl -H "x-api-key: ${s}" https://api.test`,
    ],
    ['openai-key', 'sk' + '-', random.text(alphanumeric, 48), (s) => `Incorrect API key provided: ${s}.`],
    ['openai-key', 'sk-' + 'proj-', random.text(urlSafe, 120), (s) => `OPENAI_API_KEY=${s}\nnpm start`],
    ['openrouter-key', 'sk-' + 'or-v1-', random.text(hex, 64), (s) => `{"key":"${s}"}`],
    ['google-key', 'AI' + 'za', random.text(urlSafe, 35), (s) => `https://maps.test/api?key=${s}&v=3`],
    ['google-oauth', 'ya' + '29.', random.text(urlSafe, 60), (s) => `gcloud printed ${s}`],
    [
      'aws-access-key',
      'AK' + 'IA',
      random.text(upper + digits, 16),
      (s) => `aws_access_key_id = ${s}\nregion = eu`,
    ],
    ['aws-access-key', 'AS' + 'IA', random.text(upper + digits, 16), (s) => `\\n${s}\\n`],
    ['github-token', 'gh' + 'p_', random.text(alphanumeric, 36), (s) => `git clone with ${s} failed`],
    ['github-token', 'gh' + 'o_', random.text(alphanumeric, 36), (s) => `oauth=${s}`],
    ['github-token', 'gh' + 'u_', random.text(alphanumeric, 36), (s) => `["${s}"]`],
    [
      'github-token',
      'gh' + 's_',
      random.text(alphanumeric, 36),
      (s) => `https://x-access-token:${s}@github.test/a/b`,
    ],
    ['github-token', 'gh' + 'r_', random.text(alphanumeric, 36), (s) => `refresh ${s}`],
    [
      'github-token',
      'github' + '_pat_',
      random.text(alphanumeric, 70),
      (s) => `gh auth login --with-token <<< ${s}`,
    ],
    ['gitlab-token', 'gl' + 'pat-', random.text(urlSafe, 20), (s) => `PRIVATE-TOKEN: ${s}`],
    ['slack-token', 'xo' + 'xb-', random.text(alphanumeric, 40), (s) => `slack bot uses ${s}`],
    ['slack-token', 'xo' + 'xp-', random.text(alphanumeric, 40), (s) => `(${s})`],
    ['stripe-key', 'sk' + '_live_', random.text(alphanumeric, 24), (s) => `stripe.api_key = '${s}'`],
    ['stripe-key', 'rk' + '_live_', random.text(alphanumeric, 24), (s) => `restricted: ${s}`],
    ['npm-token', 'np' + 'm_', random.text(alphanumeric, 36), (s) => `//registry.test/:_authToken=${s}`],
    ['huggingface-token', 'h' + 'f_', random.text(alphanumeric, 34), (s) => `hf login --token ${s}`],
    ['groq-key', 'gs' + 'k_', random.text(alphanumeric, 52), (s) => `new Groq({ apiKey: "${s}" })`],
    ['xai-key', 'xa' + 'i-', random.text(alphanumeric, 80), (s) => `grok ${s}`],
    [
      'telegram-token',
      `${random.text(digits, 9)}:A`,
      `A${random.text(urlSafe, 33)}`,
      (s) => `https://api.test/bot${s}/getMe`,
    ],
    [
      'sendgrid-key',
      'S' + 'G.',
      `${random.text(urlSafe, 22)}.${random.text(urlSafe, 43)}`,
      (s) => `mail via ${s}`,
    ],
    ['digitalocean-token', 'do' + 'p_v1_', random.text(hex, 64), (s) => `doctl auth init -t ${s}`],
    ['vault-token', 'hv' + 's.', random.text(alphanumeric, 24), (s) => `vault login ${s}`],
    ['pypi-token', 'py' + 'pi-', random.text(urlSafe, 120), (s) => `twine upload -p ${s}`],
    ['age-key', 'AGE-SECRET' + '-KEY-1', random.text(upper + digits, 58), (s) => `# created\n${s}\n`],
    ['jwt', 'ey' + 'J', jwtBody(random), (s) => `session=${s}; Path=/`],
  ]
  return rows.map(([secretClass, prefix, body, text]) => plant(secretClass, prefix + body, text))
}

function jwtBody(random: Random): string {
  return `${random.text(alphanumeric, 33)}.${'ey'}J${random.text(alphanumeric, 80)}.${random.text(urlSafe, 43)}`
}

function headers(random: Random): PlantedSecret[] {
  const bearer = random.text(urlSafe, 40)
  const basic = Buffer.from(`admin:${random.text(alphanumeric, 14)}`).toString('base64')
  return [
    plant('bearer-token', bearer, (s) => `GET /v1 HTTP/1.1\r\nAuthorization: Bearer ${s}\r\nAccept: */*`),
    plant('bearer-token', bearer, (s) => `headers: { "authorization": "Bearer ${s}" }`),
    plant('bearer-token', bearer, (s) => `sent bearer ${s} twice`),
    plant('basic-auth', basic, (s) => `Proxy-Authorization: Basic ${s}\n`),
    plant('basic-auth', basic, (s) => `{\\"Authorization\\": \\"Basic ${s}\\"}`),
    plant('basic-auth', random.text(alphanumeric, 12), (s) => `curl -s -u admin:${s} https://host.test/`),
    plant('authorization', random.text(hex, 40), (s) => `Authorization: token ${s}`),
    plant('cookie', `sid=${random.text(alphanumeric, 24)}`, (s) => `Cookie: ${s}; theme=dark\nHost: a.test`),
  ]
}

function urls(random: Random): PlantedSecret[] {
  const hosts: [string, string][] = [
    ['https://deploy', 'git.test/a.git'],
    ['postgres://app', 'db.test:5432/main'],
    ['mysql://root', '127.0.0.1/shop'],
    ['mongodb+srv://svc', 'cluster0.test/?retryWrites=true'],
    ['redis://', 'cache.test:6379/0'],
    ['amqp://guest', 'mq.test/%2f'],
  ]
  return hosts.map(([user, host]) =>
    plant('url-password', random.text(alphanumeric, 14), (s) => `connecting to ${user}:${s}@${host} now`),
  )
}

function assigned(random: Random): PlantedSecret[] {
  const value = (): string => random.text(alphanumeric, 18)
  const awsSecret = random.text(`${alphanumeric}/+`, 40)
  return [
    plant('aws-secret-key', awsSecret, (s) => `aws_secret_access_key = ${s}\n`),
    plant('aws-secret-key', awsSecret, (s) => `export AWS_SECRET_ACCESS_KEY=${s}`),
    plant('connection-string', value(), (s) => `Server=db.test;User Id=sa;Password=${s};Encrypt=true`),
    plant(
      'connection-string',
      `${value()}==`,
      (s) => `AccountName=a;AccountKey=${s};EndpointSuffix=core.test`,
    ),
    plant('secret-assignment', value(), (s) => `export CLOUDFLARE_API_TOKEN=${s} && wrangler deploy`),
    plant('secret-assignment', value(), (s) => `DB_PASSWORD="${s}" ./run.sh`),
    plant('secret-assignment', value(), (s) => `SESSION_SECRET='${s}'`),
    plant('secret-assignment', value(), (s) => `MYSQL_PWD=${s} mysqldump shop`),
    plant('secret-assignment', value(), (s) => `SIGNING_KEY=${s}`),
    plant('secret-assignment', value(), (s) => `{"api_key": "${s}", "region": "eu"}`),
    plant('secret-assignment', value(), (s) => `{\\"client_secret\\":\\"${s}\\"}`),
    plant('secret-assignment', value(), (s) => `database:\n  user: app\n  password: ${s}\n  port: 5432\n`),
    plant('secret-assignment', value(), (s) => `auth_token: ${s}\n`),
    plant('secret-assignment', value(), (s) => `GET /feed?access_token=${s}&page=2`),
    plant('secret-assignment', value(), (s) => `tool login --password ${s} --user me`),
    plant('secret-assignment', value(), (s) => `tool login --api-key=${s} --user me`),
    plant('secret-assignment', `pass word ${value()}`, (s) => `const password = "${s}"`),
  ]
}

function keys(random: Random): PlantedSecret[] {
  const block = (label: string, lineBreak: string): PlantedSecret => {
    const lines = Array.from({ length: 12 }, () => random.text(`${alphanumeric}+/`, 64))
    const body = [...lines, `${random.text(alphanumeric, 22)}==`].join(lineBreak)
    const edge = (word: string): string => `-----${word} ${label}-----`
    const armour = [edge('BEGIN'), body, edge('END')].join(lineBreak)
    return plant('private-key', body, () => `key:${lineBreak}${armour}${lineBreak}done`)
  }
  const name = 'PRIVATE' + ' KEY'
  return [
    block(name, '\n'),
    block(`RSA ${name}`, '\r\n'),
    block(`OPENSSH ${name}`, '\n'),
    block(`EC ${name}`, '\\n'),
    block(`PGP ${name} BLOCK`, '\n'),
  ]
}

function plant(secretClass: string, secret: string, text: (secret: string) => string): PlantedSecret {
  return { class: secretClass, secret, text: text(secret) }
}
