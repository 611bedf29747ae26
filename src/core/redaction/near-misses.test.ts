import { describe, expect, test } from 'vitest'
import { createRedactor } from './redactor.ts'

const redactor = createRedactor()

const nearMisses: Record<string, string[]> = {
  'ids and hashes': [
    'commit 9fceb02d0ae598e95dc970b74767f19372d61af8',
    '550e8400-e29b-41d4-a716-446655440000',
    'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    'evt_01JABCDEFGHJKMNPQRSTVWXYZ01 ses_01JABCDEFGHJKMNPQRSTVWXYZ01',
    '4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7',
    '2026-05-01T10:11:12.123Z',
    'integrity sha512-9fceb02d0ae598e95dc970b74767f19372d61af89fceb02d0ae598e95dc970b7==',
    'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ== user@host',
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJ==',
    '-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBa\n-----END CERTIFICATE-----',
    '-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA1234567890abcdefghijkl\n-----END PUBLIC KEY-----',
  ],
  'names that look alike': [
    'pip install sk-learn',
    'task-001 disk-usage-report-2024-final-version-3',
    'sk-circle-fade-dot-animation-x1',
    'npm_config_registry=https://registry.npmjs.org/ npm_lifecycle_script',
    'hf_hub_download(repo)',
    'eyJ is how base64 JSON begins',
    'monkey: banana123 turkey: dinner2024 hotkey=ctrl1234 keyboard: qwerty123',
    '/work/main/src/core/redaction/secret-names.ts C:\\Users\\me\\token.txt',
  ],
  'prefixes without a secret': [
    'mop_up_the_rest_of_the_floor mbr_partition_table_reader mst_minimum_spanning_tree',
    'secret_manager_client_factory_for_the_application secret-live-reload-of-the-development-server-part',
    'sk_buff_head sk_alloc r8_register shippo_live_mode whsec_of_the_endpoint',
    'glc_context_of_the_window_that_is_drawn_next npm_config_user_agent_of_the_installer_itself',
    'figd_ lin_api_ dapi_lookup dp.st.name hvs.rotate() AKIA LTAI EAAA ATTA',
    'key-9fceb02d key-value-store-of-the-cache tk-us-east-1 sdk-550e8400 access-production-logs',
    'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU= sha256~',
    'data:font/woff2;base64,d09GMgABAAAAAEAAAAEAAACEAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA+/EAAAA',
    'SKU12345 TASK0123456789 SK-12 MTA2 NDE5 discord.js and discord.Client',
    '4b1d9fceb02d0ae598e95dc970b74767f19372d61a',
    'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSURkekNDQWwrZ0F3SUJBZ0lFQWdBQXVUQU5CZ2txaGtpRzl3',
  ],
  'commands and files': [
    'the machine is slow, and its password is asked for; a virtual machine login prompt',
    'machine learning login page',
    'docker run -p 8080:80 -d nginx; docker login registry.test; docker compose -p shop up',
    'mysql -u root -p shop; mysql -P 3306 -h db.test',
    'sshpass -p $PASSWORD ssh host; sshpass -f file ssh host',
    'redis-cli -a $REDIS ping; openssl req -passout pass:$PASS',
    '{"auth": "required", "mode": "bearer12"}',
    '"auth": "aGVsbG8gd29ybGQ="',
    'unzip -p archive.zip file; 7za x archive.7z',
    'password: |\nnext: 1',
    'secret: |\n  A few words about how the thing works.',
    'https://host.test/login?code=short https://host.test/x?sig=none&sig=design',
    'curl https://hooks.slack.com/services/ and https://discord.com/api/webhooks/',
  ],
  'counts and settings': [
    'token_count=5',
    'max_tokens: 4096',
    'maxTokens=4096 MAX_TOKENS=4096 max_token=4096',
    'tokens: 123456789',
    '"tokens": {"input": 12}',
    'token_type: bearer',
    'nextPageToken: "CAUQAA12345678"',
    'secretName: my-secret-1',
    'keyFields: ["a","b"]',
    '"key": "abc123def456"',
    'primary_key: id12345678 cacheKey=user:123456 PUBLIC_KEY=abc123456',
    'PWD=/work/main\nOLDPWD=/tmp',
    'password-less login: works',
    'credential.helper=osxkeychain',
    'SSH_KEY=/home/me/.ssh/id_ed25519',
    'secret: true',
    '"token": null',
    'SECRET=',
  ],
  references: [
    'PASSWORD=$DB_PASSWORD API_KEY=${API_KEY} API_KEY=<your key>',
    'token: process.env.TOKEN',
    'Authorization: Bearer $TOKEN',
    'Authorization: Bearer <token>',
    '-H "Authorization: Bearer ${TOKEN}"',
    'postgres://user:${PASSWORD}@host/db',
    'password: {{ vault_password }}',
    '`password: ${password}`',
  ],
  code: [
    'const token = await getToken()',
    'const token = getToken()',
    'let token = req.headers["x-token"]',
    'token: string,',
    'password: string',
    '  password: z.string().min(8)',
    'password: hashedPassword,',
    'token = other.token',
    'if (token === "abc123456") {',
    'export type Token = { token: string; key: string }',
    'foo(token=token, password=args.password)',
    'tokens.map((token) => token.value)',
    'token => token.id1234567',
    'this.token = token',
    '{ type: "password", name: "pw" }',
    'password: "required"',
    'apiKey: config.apiKey',
    'token = next2(lexer)',
    'authToken: tokens2[0],',
    'apiKey: string | undefined',
    'password !== confirm1',
    'std::string token = lexer.next();',
    'import { token } from "./token1.ts"',
    'token = base64url as string',
    'const name = wire ? "client_secrets" : "clientSecrets"',
    'password = salt256 + pepper',
    'secret = value12 in other',
    'use the --token flag, or the --password option with --token-file /etc/x',
  ],
  prose: [
    'The password must be at least 12 characters long.',
    'Password: it must contain a digit',
    'Enter your password: ',
    'The secret: persistence.',
    'the secret to success = hard work',
    'basic functionality of the thing, and Basic Authentication',
    'bearer of bad news; the bearer token is checked',
    'authorization is required for step 12345678901',
    'Cookie: the best biscuit; set the cookie: yes',
    'error: invalid token: unexpected "}" at 12',
    'SyntaxError: Unexpected token: punc (;)',
    'token ring network: 16Mbit',
    'the token: 2026-01-01',
  ],
  addresses: [
    'https://example.com:8080/path/user@example.com',
    'git@github.com:org/repo.git',
    'docker run -u 1000:1000 alpine',
    'docker://alpine:3.18@sha256:abc',
    'curl https://a.test/ -o out',
    'http://localhost:3000/?tokens=5',
  ],
}

for (const [kind, texts] of Object.entries(nearMisses)) {
  describe(kind, () => {
    for (const text of texts) {
      test(`[MUS-63] untouched: ${text}`, () => {
        expect(redactor.text(text)).toEqual({ text, counts: {} })
      })
    }
  })
}

test('[MUS-63] known trade-offs: what prose and code share with a secret is redacted when in doubt', () => {
  // A quoted literal under a secret name is taken, whatever it says.
  expect(redactor.text('password: "Choose one"').text).toBe('password: "[redacted:secret-assignment]"')
  // A lone word at the end of a line after "password:" is taken.
  expect(redactor.text('password: please').text).toBe('password: [redacted:secret-assignment]')
})
