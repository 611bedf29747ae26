import { describe, expect, test } from 'vitest'
import { plantedSecrets } from '../../../test/support/secrets.ts'
import { createRedactor } from './redactor.ts'

const redactor = createRedactor()

const specOf = (secretClass: string): string => {
  if (/^(?:url-password|connection-string)$/.test(secretClass)) return 'MUS-58'
  if (/^(?:secret-assignment|aws-secret-key|cookie|basic-auth|bearer-token|authorization)$/.test(secretClass))
    return 'MUS-59'
  return /^(?:private-key|jwt)$/.test(secretClass) ? 'MUS-60' : 'MUS-57'
}

describe('planted secrets', () => {
  for (const [index, planted] of plantedSecrets(3).entries()) {
    const name = `[${specOf(planted.class)}] ${planted.class} (${index}) is replaced and the text around it stays`
    test(name, () => {
      const { text, counts } = redactor.text(planted.text)
      expect(text).toContain(`[redacted:${planted.class}]`)
      expect(text).not.toContain(planted.secret)
      expect(counts).toEqual({ [planted.class]: 1 })
      if (planted.class !== 'private-key' && planted.class !== 'cookie') {
        expect(text).toBe(planted.text.replace(planted.secret, `[redacted:${planted.class}]`))
      }
    })
  }

  test('[MUS-57] every class is found for many seeds', () => {
    for (let seed = 100; seed < 140; seed++) {
      for (const planted of plantedSecrets(seed)) {
        const { text, counts } = redactor.text(planted.text)
        expect(text).not.toContain(planted.secret)
        expect(counts[planted.class], planted.text).toBe(1)
      }
    }
  })

  test('[MUS-57] two secrets in one text are two markers, each counted', () => {
    const [first, second] = plantedSecrets(5).filter((planted) => planted.class === 'github-token')
    const { text, counts } = redactor.text(`${first!.secret} and ${second!.secret}`)
    expect(text).toBe('[redacted:github-token] and [redacted:github-token]')
    expect(counts).toEqual({ 'github-token': 2 })
  })
})

const x = 'Zk4Qw8Rt2Lp6'

const addresses: [text: string, expected: string][] = [
  [`postgres://app:p@ssw0rd@db.test/main`, 'postgres://app:[redacted:url-password]@db.test/main'],
  [`postgres://app:pass/w0rd@db.test/main`, 'postgres://app:[redacted:url-password]@db.test/main'],
  [`redis://:${x}@cache.test:6379`, 'redis://:[redacted:url-password]@cache.test:6379'],
  [
    `a postgres://u:${x}@one.test b amqp://v:${x}@two.test`,
    'a postgres://u:[redacted:url-password]@one.test b amqp://v:[redacted:url-password]@two.test',
  ],
  [
    `https://hooks.slack.com/services/T0${x}/B0${x}/${x}`,
    'https://hooks.slack.com/services/[redacted:slack-webhook]',
  ],
  [
    `http://localhost:4400/login?code=${x.repeat(3)}`,
    'http://localhost:4400/login?code=[redacted:muster-login-code]',
  ],
  [`Server=a;Pwd=swordfish;Database=b`, 'Server=a;Pwd=[redacted:connection-string];Database=b'],
]

const assignments: [text: string, expected: string][] = [
  [`password: swordfish`, 'password: [redacted:secret-assignment]'],
  [`{"token":"abcdefghijkl"}`, '{"token":"[redacted:secret-assignment]"}'],
  [`password = "it's me"`, 'password = "[redacted:secret-assignment]"'],
  [`password=swordfish`, 'password=[redacted:secret-assignment]'],
  [`"password" : "a \\" b"`, '"password" : "[redacted:secret-assignment]"'],
  [`DB_PASSWORD=a,b;c&d next`, 'DB_PASSWORD=[redacted:secret-assignment] next'],
  [`GITHUB_TOKEN_PROD=abcdef`, 'GITHUB_TOKEN_PROD=[redacted:secret-assignment]'],
  [`{\\"a\\":\\"API_KEY=${x}\\nB=1\\"}`, '{\\"a\\":\\"API_KEY=[redacted:secret-assignment]\\nB=1\\"}'],
  [`config["client_secret"] = 'abc'`, `config["client_secret"] = '[redacted:secret-assignment]'`],
  [`'secret' => '${x}'`, `'secret' => '[redacted:secret-assignment]'`],
  [`token := "${x}"`, 'token := "[redacted:secret-assignment]"'],
  [`-H 'X-Auth-Token: ${x}'`, `-H 'X-Auth-Token: [redacted:secret-assignment]'`],
  [`--password "two words 1"`, '--password "[redacted:secret-assignment]"'],
  [`password: "unfinished ${x}`, 'password: "[redacted:secret-assignment]'],
  [`Authorization: Digest username="a", response="${x}"`, 'Authorization: Digest [redacted:authorization]'],
  [
    `curl -X POST \\\n  --user me:${x} https://a.test`,
    'curl -X POST \\\n  --user me:[redacted:basic-auth] https://a.test',
  ],
  [`Set-Cookie: sid=${x}; HttpOnly\nnext`, 'Set-Cookie: [redacted:cookie]\nnext'],
  [`export FOO_SECRET = ${x}`, 'export FOO_SECRET = [redacted:secret-assignment]'],
  [
    'so password = hunter2hunter2 and then it ran',
    'so password = [redacted:secret-assignment] and then it ran',
  ],
  [
    'db:\n  password: |\n    two words\n    and more\n\n  port: 1\n',
    'db:\n  password: |\n    [redacted:secret-assignment]\n\n  port: 1\n',
  ],
  [`- token: >-\n    ${x}\n- b`, '- token: >-\n    [redacted:secret-assignment]\n- b'],
  [
    `{"y":"a:\\n  password: |\\n    ${x}\\n  b: 2"}`,
    '{"y":"a:\\n  password: |\\n    [redacted:secret-assignment]\\n  b: 2"}',
  ],
  [
    `machine a.test login me password ${x}\nmachine b.test\n  password ${x}`,
    'machine a.test login me password [redacted:netrc-password]\nmachine b.test\n  password [redacted:netrc-password]',
  ],
  [`client-key-data: ${x.repeat(4)}`, 'client-key-data: [redacted:secret-assignment]'],
  [`/usr/bin/mysql -uroot -p${x} shop`, '/usr/bin/mysql -uroot -p[redacted:command-password] shop'],
  [`openssl rsa -passin pass:${x} -in k`, 'openssl rsa -passin pass:[redacted:command-password] -in k'],
  [`ldapsearch -x -D cn=a -w ${x}`, 'ldapsearch -x -D cn=a -w [redacted:command-password]'],
  [`htpasswd -bc /etc/x me ${x}`, 'htpasswd -bc /etc/x me [redacted:command-password]'],
]

describe('ways of writing', () => {
  test.each(addresses)('[MUS-58] the password goes, host and path stay: %s', (text, expected) => {
    expect(redactor.text(text).text).toBe(expected)
  })

  test.each(assignments)('[MUS-59] the value under a secret name goes: %s', (text, expected) => {
    expect(redactor.text(text).text).toBe(expected)
  })

  test('[MUS-59] a field of an event with a secret name loses its value, whatever it is', () => {
    const { value } = redactor.event({ api_key: 'plain words', env: { DB_PASSWORD: 'x1' }, name: 'kept' })
    expect(value).toEqual({
      api_key: '[redacted:sensitive-field]',
      env: { DB_PASSWORD: '[redacted:sensitive-field]' },
      name: 'kept',
    })
  })
})

describe('private keys', () => {
  const edge = (word: string): string => `-----${word} ${'PRIVATE'} KEY-----`
  const lines = Array.from({ length: 20 }, (_, i) =>
    `${String.fromCharCode(65 + i)}${'bC3/+x9Q'.repeat(8)}`.slice(0, 64),
  )

  test('[MUS-60] a block whose end was cut off is replaced up to its last line', () => {
    const text = `${edge('BEGIN')}\n${lines.join('\n')}\nshort1`
    expect(redactor.text(text).text).toBe('[redacted:private-key]')
    expect(redactor.text(`${text}…`).text).not.toContain(lines[19])
  })

  test('[MUS-60] line numbers between the lines of a key do not save it', () => {
    const numbered = [edge('BEGIN'), ...lines, edge('END')].map(
      (line, i) => `${String(i + 1).padStart(6)}→${line}`,
    )
    const { text } = redactor.text(numbered.join('\n'))
    for (const line of lines) expect(text).not.toContain(line)
  })

  test('[MUS-60] a key longer than the waiting limit is one marker', () => {
    const long = Array.from({ length: 40 }, () => lines)
      .flat()
      .join('\n')
    expect(redactor.text(`a ${edge('BEGIN')}\n${long}\n${edge('END')} b`).text).toBe(
      'a [redacted:private-key] b',
    )
  })

  test('[MUS-60] the text between an unfinished key and the next one stays', () => {
    const text = `${edge('BEGIN')}\n${lines.join('\n')}\n\nThat was it. Now:\n${edge('BEGIN')}\n${lines.join('\n')}\n${edge('END')}`
    expect(redactor.text(text).text).toBe(
      '[redacted:private-key]\n\nThat was it. Now:\n[redacted:private-key]',
    )
  })

  test('[MUS-63] a header that is only spoken about stays', () => {
    const text = `The line ${edge('BEGIN')} begins it and ${'words follow it here. '.repeat(20)}`
    expect(redactor.text(text).text).toBe(text)
  })
})
