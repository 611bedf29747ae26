import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { plantedFields, plantedSecrets } from '../../../test/support/secrets.ts'
import { runs } from '../../../test/support/size.ts'
import { createRedactor } from './redactor.ts'

const redactor = createRedactor()
const planted = plantedSecrets(11)
const token = planted.find((secret) => secret.class === 'github-token')!.secret

describe('whole events', () => {
  const event = {
    id: 'evt_1',
    seq: 7,
    actor: { id: 'developer-1' },
    payload: {
      input: { params: { command: `git push https://x:${token}@git.test`, cwd: '/work' } },
      tags: ['a', 'b'],
    },
  }

  test('[MUS-64] the copy names the touched path and shares every other branch', () => {
    const { value, paths, counts } = redactor.event(event)
    expect(paths).toEqual(['/payload/input/params/command'])
    expect(counts).toEqual({ 'github-token': 1 })
    expect(value.payload.input.params.command).toBe('git push https://x:[redacted:github-token]@git.test')
    expect(value.actor).toBe(event.actor)
    expect(value.payload.tags).toBe(event.payload.tags)
    expect(event.payload.input.params.command).toContain(token)
  })

  test('[MUS-66] an event without a secret is handed back as the same object', () => {
    const clean = {
      ...event,
      payload: { text: 'the password must be long; tokens: 12', tokens: 5, ok: true, none: null },
    }
    const result = redactor.event(clean)
    expect(result.value).toBe(clean)
    expect(result).toMatchObject({ paths: [], counts: {} })
  })

  test('[MUS-64] slashes and tildes in keys are escaped in the path', () => {
    expect(redactor.event({ 'a/b': { 'c~d': [token] } }).paths).toEqual(['/a~1b/c~0d/0'])
  })

  test('[MUS-57] a plain string and a list are events too', () => {
    expect(redactor.event(token)).toEqual({
      value: '[redacted:github-token]',
      paths: [''],
      counts: { 'github-token': 1 },
    })
    expect(redactor.event(['x', token]).value).toEqual(['x', '[redacted:github-token]'])
    for (const value of [undefined, null, 5, true]) expect(redactor.event(value).value).toBe(value)
  })
})

describe('fields by name', () => {
  for (const { key, value } of plantedFields(2)) {
    test(`[OBS-53] the whole value of ${key} is replaced`, () => {
      const result = redactor.event({ call: { [key]: value } })
      expect(result.value.call[key]).toBe('[redacted:sensitive-field]')
      expect(result.paths).toEqual([`/call/${key}`])
    })
  }

  test('[OBS-53] lists and objects under a sensitive name lose their strings, not their numbers', () => {
    const { value } = redactor.event({
      credentials: { user: 'a', parts: ['b', 3], ok: true },
      secret: 5,
      token: '',
    })
    expect(value).toEqual({
      credentials: { user: '[redacted:sensitive-field]', parts: ['[redacted:sensitive-field]', 3], ok: true },
      secret: 5,
      token: '',
    })
  })

  test('[MUS-63] harmless names, the description of a field, and the working directory stay', () => {
    const event = {
      tokens: 'many',
      tokensUsed: '5',
      max_tokens: '4096',
      key: 'abc',
      keyFields: ['id'],
      properties: { password: { type: 'string', description: 'the password' } },
      pwd: '/work',
    }
    expect(redactor.event(event).value).toBe(event)
  })

  test('[OBS-53] a name in one field covers the value in the next', () => {
    const { value } = redactor.event({
      env: [
        { name: 'DB_PASSWORD', value: 'x y' },
        { name: 'HOME', value: '/root' },
      ],
    })
    expect(value.env).toEqual([
      { name: 'DB_PASSWORD', value: '[redacted:sensitive-field]' },
      { name: 'HOME', value: '/root' },
    ])
  })

  test('[OBS-53] an argument list says in one item what the next one is', () => {
    const { value, paths } = redactor.event({
      argv: ['tool', '--password', 'hunter', '--token', '--verbose', 'x'],
    })
    expect(value.argv).toEqual([
      'tool',
      '--password',
      '[redacted:sensitive-field]',
      '--token',
      '--verbose',
      'x',
    ])
    expect(paths).toEqual(['/argv/2'])
  })

  test('[MUS-60] a private key whose lines are the items of a list is replaced in each of them', () => {
    const { text, secret } = planted.find((one) => one.class === 'private-key')!
    const lines = ['@@ -1 +9 @@', ...text.split('\n').map((line) => `+${line}`), ' after']
    const { value, counts } = redactor.event({ hunk: { lines } })
    for (const line of secret.split('\n')) expect(JSON.stringify(value)).not.toContain(line)
    expect(value.hunk.lines.slice(0, 3)).toEqual(['@@ -1 +9 @@', '+key:', '+[redacted:private-key]'])
    expect(value.hunk.lines.slice(-2)).toEqual(['+done', ' after'])
    expect(counts).toEqual({ 'private-key': secret.split('\n').length + 2 })
  })

  test('[OBS-53] further names can be given', () => {
    const { value } = createRedactor({ sensitiveKeys: ['badge-number'] }).event({
      badgeNumber: 'A1',
      badge: 'B2',
    })
    expect(value).toEqual({ badgeNumber: '[redacted:sensitive-field]', badge: 'B2' })
  })

  test('[MUS-57] keys that are secrets themselves are replaced and stay apart', () => {
    const [first, second] = planted.filter((secret) => secret.class === 'github-token')
    const { value, paths } = redactor.event({ [first!.secret]: 1, [second!.secret]: { a: token } })
    expect(value).toEqual({
      '[redacted:github-token]': 1,
      '[redacted:github-token]#2': { a: '[redacted:github-token]' },
    })
    expect(paths).toEqual([
      '/[redacted:github-token]',
      '/[redacted:github-token]#2',
      '/[redacted:github-token]#2/a',
    ])
  })

  test('[MUS-66] a property called __proto__ stays a property', () => {
    const { value } = redactor.event(JSON.parse(`{"__proto__":{"a":"${token}"}}`) as object)
    expect(JSON.stringify(value)).toBe('{"__proto__":{"a":"[redacted:github-token]"}}')
  })

  test('[MUS-56] what nests too deep is cut off instead of let through', () => {
    let deep: unknown = token
    for (let i = 0; i < 5000; i++) deep = i % 2 === 0 ? [deep] : { deep }
    const { value, counts } = redactor.event(deep)
    expect(JSON.stringify(value)).not.toContain(token)
    expect(counts).toEqual({ 'too-deep': 1 })
    expect(redactor.event(value).value).toBe(value)
  })
})

const leaf = fc.oneof(
  fc.string(),
  fc.constantFrom(...planted.map((secret) => secret.text)),
  fc.constantFrom(
    'password: ',
    'token=',
    '"secret":"',
    'Authorization: Bearer ',
    '[redacted:jwt]',
    '://a:',
    '@b',
    '--password',
  ),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
)
const key = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.constantFrom('text', 'password', 'tokens', 'value', 'name', 'key'),
)
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
  ),
}))

describe('properties', () => {
  test('[MUS-56] no planted secret survives anywhere in any value', () => {
    fc.assert(
      fc.property(tree, (value) => {
        const out = JSON.stringify(redactor.event(value).value) ?? ''
        for (const { secret } of planted)
          expect(out.includes(JSON.stringify(secret).slice(1, -1))).toBe(false)
      }),
      runs(300),
    )
  })

  test('[MUS-66] redacting twice changes nothing more and reports nothing', () => {
    fc.assert(
      fc.property(tree, (value) => {
        const once = redactor.event(value).value
        const twice = redactor.event(once)
        expect(twice.value).toBe(once)
        expect(twice).toMatchObject({ paths: [], counts: {} })
      }),
      runs(300),
    )
  })

  test('[MUS-64] paths point at exactly what changed, and no path means the same object', () => {
    fc.assert(
      fc.property(tree, (value) => {
        const result = redactor.event(value)
        expect(new Set(result.paths)).toEqual(new Set(changedPaths(value, result.value, '')))
        expect(result.paths.length === 0).toBe(result.value === value)
        expect(result.paths.length === 0).toBe(Object.keys(result.counts).length === 0)
      }),
      runs(300),
    )
  })
})

/** Keys of random trees hold no secret, so both sides have the same shape. */
function changedPaths(before: unknown, after: unknown, path: string): string[] {
  if (before === after) return []
  if (typeof before !== 'object' || before === null) return [path]
  const inside = after as Record<string, unknown>
  return Object.entries(before).flatMap(([name, item]) =>
    changedPaths(item, inside[name], `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  )
}
