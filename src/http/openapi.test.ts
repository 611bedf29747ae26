import { expect, test } from 'vitest'
import { ask, bearer, testApp, tokens } from '../../test/http/test-app.ts'
import { httpClient } from '../client/client.ts'
import { routeEntries } from '../contract/routes.ts'
import { openapi } from './openapi.ts'

type Operation = {
  operationId: string
  parameters: { name: string; in: string; required: boolean }[]
  requestBody?: { content: Record<string, unknown> }
  responses: Record<string, { content?: Record<string, unknown> }>
  security: object[]
}
const document = openapi()
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods as Record<string, Operation>).map(([method, operation]) => ({
    path,
    method,
    ...operation,
  })),
)

test('[MUS-87] the document, the table and the client have the same routes', () => {
  expect(
    operations.map(({ operationId, method, path }) => `${operationId} ${method} ${path}`).sort(),
  ).toEqual(routeEntries.map(([name, { method, path }]) => `${name} ${method} ${path}`).sort())
  const client = httpClient({
    base: '',
    request: () => Promise.reject(new Error()),
    sleep: () => Promise.resolve(),
  })
  expect(Object.keys(client).sort()).toEqual(routeEntries.map(([name]) => name).sort())
})

test('[MUS-87] no route hides another one: none fits the path of a route of the same method', () => {
  const all = routeEntries.map(([name, { method, path }]) => ({ name, method, words: path.split('/') }))
  const isWord = (word: string) => !word.startsWith('{')
  const overlaps = all.flatMap((one, i) =>
    all
      .slice(i + 1)
      .filter(
        (other) =>
          other.method === one.method &&
          other.words.length === one.words.length &&
          other.words.every(
            (word, at) => word === one.words[at] || !isWord(word) || !isWord(one.words[at] ?? ''),
          ),
      )
      .map((other) => `${one.name} and ${other.name}`),
  )
  expect(overlaps).toEqual([])
})

test('[MUS-87] every parameter of a route is described where it goes', () => {
  for (const [name, route] of routeEntries) {
    const operation = operations.find(({ operationId }) => operationId === name)
    const described = new Set(operation?.parameters.map((parameter) => parameter.name))
    const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, field]) => field)
    for (const field of inPath)
      expect(operation?.parameters).toContainEqual(
        expect.objectContaining({ name: field, in: 'path', required: true }),
      )
    if (route.method === 'post') expect(operation?.requestBody?.content).toHaveProperty('application/json')
    else
      for (const field of Object.keys(route.input.shape))
        expect(described, `${name}.${field}`).toContain(field)
    expect(described.has('last-event-id')).toBe(route.answers === 'sse')
    const type = route.answers === 'sse' ? 'text/event-stream' : 'application/json'
    expect(operation?.responses['200']?.content).toHaveProperty(type)
  }
})

test('[MUS-87] every reference leads somewhere', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
    ([, target = '']) => target,
  )
  expect(references.length).toBeGreaterThan(50)
  for (const target of new Set(references)) {
    const found = target
      .replace(/^#\//, '')
      .split('/')
      .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document)
    expect(found, target).toBeDefined()
  }
})

test('[MUS-87] refusals are described by status, and only where they can happen', () => {
  const statuses = (name: string) =>
    Object.keys(operations.find(({ operationId }) => operationId === name)?.responses ?? {})
  expect(statuses('appendEvents')).toEqual(
    expect.arrayContaining(['400', '401', '403', '413', '415', '421', '500', '503']),
  )
  expect(statuses('health')).not.toEqual(expect.arrayContaining(['413']))
})

test('[MUS-203] only what needs no token is described so', () => {
  for (const [name, { access }] of routeEntries) {
    const { security } = operations.find(({ operationId }) => operationId === name) ?? { security: [] }
    expect(security.some((scheme) => Object.keys(scheme).length === 0)).toBe(access === 'open')
  }
})

test('[MUS-87] the daemon serves it', async () => {
  expect(
    await (await ask(testApp(), '/api/v1/openapi.json', { headers: bearer(tokens.session) })).json(),
  ).toEqual(JSON.parse(JSON.stringify(document)))
})
