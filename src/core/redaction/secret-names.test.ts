import { expect, test } from 'vitest'
import { isDirectoryName, nameStrength } from './secret-names.ts'

const sensitive =
  `password passwd Password db.password user_password passwordHash passphrase secret secrets client-secret
  clientSecret token accessToken ACCESS_TOKEN x-auth-token _authToken refresh_token api_key apiKey API-KEY apikey
  x-api-key secretAccessKey private_key PRIVATE_KEY STRIPE_KEY SIGNING_KEY_2 GITHUB_TOKEN_PROD DB_PASS MYSQL_PWD
  authorization Proxy-Authorization cookie Set-Cookie credential credentials awsCredentials jwt AccountKey
  SharedAccessKey`.split(/\s+/)

const harmless =
  `tokens tokensUsed totalTokens tokenCount token_count max_tokens inputTokens outputTokens keyFields key
  keys Key publicKey PUBLIC_KEY primaryKey PRIMARY_KEY cacheKey partition_key sort_key secretName secretArn passwordPolicy
  passwordless tokenType token_type token_limit nextToken nextPageToken eos_token stopToken timeToFirstToken pass
  firstPass compass monkey turkey keyboard author authors name id traceId spanId cookieConsent tokenizer accessKeyId
  api_key_id`.split(/\s+/)

for (const name of sensitive) {
  test(`[OBS-53] ${name} names a secret`, () => {
    expect(nameStrength(name)).not.toBe('none')
  })
}

for (const name of harmless) {
  test(`[MUS-63] ${name} does not name a secret`, () => {
    expect(nameStrength(name)).toBe('none')
  })
}

test('[MUS-63] the working directory is no password', () => {
  expect(isDirectoryName('PWD', '/work/main')).toBe(true)
  expect(isDirectoryName('pwd', '~/src')).toBe(true)
  expect(isDirectoryName('pwd', 'C:\\src')).toBe(true)
  expect(isDirectoryName('pwd', 'hunter2')).toBe(false)
  expect(isDirectoryName('password', '/hunter2')).toBe(false)
})
