import { expect, test, vi } from 'vitest'
import { sized } from '../../../test/support/size.ts'
import { createRedactor } from './redactor.ts'

// A quadratic rule needs many minutes for so much; the time limit is the only clock here, and a busy machine is no rule.
vi.setConfig({ testTimeout: 200_000 })

const redactor = createRedactor({ knownValues: ['Rk7!mQ2#vB9xT4', 'aaaaaaaaaaab'] })
const size = sized(300_000, 100_000)
const fill = (unit: string): string => unit.repeat(Math.ceil(size / unit.length))

const units = [
  'a',
  'sk-',
  '=',
  '-----BEGIN',
  '-----BEGIN PRIVATE KEY-----',
  'eyJ',
  '-eyJaaaaaaaa',
  'eyJaaaaaaaa.',
  'eyJaaaaaaaaa.eyJaaaa.',
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
  'password=',
  'password="',
  'password=\'\\"',
  'token: ',
  'token:\\"',
  'secret=$',
  'secret',
  'api_key',
  '://',
  '://a:',
  '://a:b@',
  'authorization:',
  'authorization: bearer ',
  'bearer+',
  'basic ',
  'cookie: ',
  'cookie:a=bcde',
  'curl ',
  'curl -u a:',
  'SG.aaaaaaaaaaaaaaaaaaaa',
  '1',
  '123456:AA',
  'ghp_',
  '\\',
  '"',
  '\n',
  ' ',
  '😀',
  'é',
  '[redacted:jwt]',
  'password=[redacted:jwt]',
  '--password ',
  'mst_',
  'mop_mop_',
  'glpat-',
  'dp.st.',
  'sk.eyJaaa.',
  'discord ',
  'discord MT',
  'twitter AAAAAAAAAAAAAAAAAAAA',
  'https://hooks.slack.com/services/',
  '?sig=',
  'machine ',
  'machine a login ',
  '"auth": "',
  '_auth=aaaa',
  'mysql -p',
  'docker login ',
  'docker login -p a -p ',
  'password: |\n  ',
  'password: |\\n  ',
  ' password: >\n',
  'password = a1b2c3d4e5f6 and ',
  'password = a1-b2c3d4e5f6 (',
  'password:\n',
  'password:\n  - ',
  'password:\n- a1b2c3d4e5f6\n',
  'tokens:\n- "',
  '- a1b2c3d4e5f6\n',
  'default login ',
  'default login a password ',
  'AC0123456789abcdef0123456789abcdef ',
  '0123456789abcdef0123456789abcdef-01234567-',
  'MTAw',
  'MTAwMTAwMTAwMTAwMTAwMTAw.',
  'Rk7!mQ2#',
  'Rk7!mQ2#\n',
  '"+"',
  '" + \n',
  'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n',
]

for (const unit of units) {
  test(`[MUS-69] a long text of ${JSON.stringify(unit)} is soon done`, () => {
    const text = fill(unit)
    const once = redactor.text(text).text
    expect(redactor.text(once).text).toBe(once)
    const stream = redactor.stream()
    const piece = text.slice(0, sized(40_000, 20_000))
    let out = ''
    for (let i = 0; i < piece.length; i += 1000) out += stream.push(piece.slice(i, i + 1000))
    expect((out + stream.end()).length).toBeGreaterThan(0)
  })
}

const beginnings = [
  'password=',
  'API_KEY=',
  'token: "',
  'Authorization: Digest ',
  'Authorization: ',
  'Cookie: a=bcde',
  '://a:',
  'eyJ',
  'curl -u a:',
  '--password ',
  '-----BEGIN PRIVATE KEY-----',
  '-----BEGIN ',
  'password: |\n  ',
  'password:\n  ',
  'passwords:\n- ',
  'default login b password ',
  'AC0123456789abcdef0123456789abcdef',
  'machine a login b password ',
  '"auth": "',
  'mysql -p',
  'docker login ',
  'discord ',
  'mst_',
  'https://hooks.slack.com/services/T',
  'https://a.test/?sig=',
  'Rk7!mQ2#',
]

for (const beginning of beginnings) {
  test(`[MUS-69] ${JSON.stringify(beginning)} and a long text of anything is soon done`, () => {
    for (const unit of ['a', '\\', '=', ' ', '-', '.', 'a1 ', '"', "'x", '@', ':', '/', '\n']) {
      const once = redactor.text(beginning + fill(unit)).text
      expect(redactor.text(once).text).toBe(once)
    }
  })
}

test('[MUS-69] an event of very many small strings is soon done', () => {
  const event = {
    items: Array.from({ length: sized(30_000, 10_000) }, (_, i) => ({
      id: `item-${i}`,
      note: 'token: none',
      pass: 'Rk7!mQ2',
    })),
  }
  expect(redactor.event(event).value).toBe(event)
})
