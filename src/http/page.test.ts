import { expect, test } from 'vitest'
import { ask, testApp } from '../../test/http/test-app.ts'
import { eventTypes } from '../contract/event.ts'
import { loadPage } from './page.ts'

const page = loadPage()
const paths = [...page.keys()]

test.each(paths)('[MUS-97] %s is served from the package', async (path) => {
  const response = await ask(testApp(), path)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe(page.get(path)?.type)
  expect(await response.text()).toBe(page.get(path)?.text)
  expect((await ask(testApp(), path, { method: 'POST' })).status).toBe(405)
  expect(await (await ask(testApp(), path, { method: 'HEAD' })).text()).toBe('')
})

test('[MUS-97] what the page loads is served, and comes from nowhere else', () => {
  const html = page.get('/')?.text ?? ''
  const loaded = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, target]) => target)
  const imported = [...(page.get('/page/feed.js')?.text ?? '').matchAll(/from '\.\/([^']+)'/g)].map(
    ([, file]) => `/page/${file}`,
  )
  for (const path of [...loaded, ...imported]) expect(paths).toContain(path)
  expect([...loaded, ...imported].length).toBe(4)
  for (const { text } of page.values())
    expect(text.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(
      /https?:|\/\/[a-z]+\.|@import|url\(/,
    )
})

test('[MUS-97] its policy lets in nothing from elsewhere and nothing inline, and it needs neither', async () => {
  const policy = (await ask(testApp(), '/')).headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("script-src 'self'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toMatch(/unsafe|\*|https?:/)
  const html = page.get('/')?.text ?? ''
  expect(html).not.toMatch(/<style|style=|\son\w+=|<script(?![^>]*src=)/)
})

test('[MUS-198] the page knows every event name, since a browser hears no other', () => {
  const names = /data-types="([^"]*)"/.exec(page.get('/')?.text ?? '')?.[1]?.split(' ')
  expect(names).toEqual(eventTypes)
})

test('[MUS-198] text of events only ever enters as text', () => {
  for (const { text } of page.values())
    expect(text).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(/)
})

test('[MUS-200] the page of a foreign name is refused like the rest', async () => {
  expect((await ask(testApp(), '/', { headers: { host: 'evil.example' } })).status).toBe(421)
})

test('[MUS-97] a package without the page says what to do', () => {
  expect(() => loadPage(new URL('file:///nowhere/'))).toThrow(/install Muster again/)
})
