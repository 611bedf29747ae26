import { existsSync, readFileSync } from 'node:fs'
import type { Handler } from 'hono'
import { AppError } from '../contract/errors.ts'
import { eventTypes } from '../contract/event.ts'
import { type HttpEnv, sessionCookie } from './request-guards.ts'

/** One file of the page, ready to send. */
type PageFile = { readonly type: string; readonly text: string }

/** The page by request path. */
export type Page = ReadonlyMap<string, PageFile>

const files = [
  ['/', 'index.html', 'text/html; charset=utf-8'],
  ['/page/feed.css', 'feed.css', 'text/css; charset=utf-8'],
  ['/page/feed.js', 'feed.js', 'text/javascript; charset=utf-8'],
  ['/page/feed-model.js', 'feed-model.js', 'text/javascript; charset=utf-8'],
  ['/page/icon.svg', 'icon.svg', 'image/svg+xml; charset=utf-8'],
] as const

/** Reads the page from the package, once, at start. */
export function loadPage(folder: URL | undefined = places.find(hasPage)): Page {
  if (!folder || !hasPage(folder))
    throw new AppError('failed', 'the files of the page are missing; install Muster again')
  return new Map(
    files.map(([path, file, type]) => {
      const text = readFileSync(new URL(file, folder), 'utf8')
      // A browser hears only the event names it was told, so the page is given the list.
      return [path, { type, text: text.replaceAll('{{types}}', eventTypes.join(' ')) }]
    }),
  )
}

// Beside this source, or, from the bundle, in the package that the bundle lies in.
const places = ['./page/', '../src/http/page/', '../../src/http/page/'].map(
  (place) => new URL(place, import.meta.url),
)
const hasPage = (folder: URL) => existsSync(new URL('index.html', folder))

/** Takes a one-time code; answers the token for the cookie, or nothing when the code is used or unknown. */
export type Redeem = (code: string) => string | undefined | Promise<string | undefined>

/** Forgets a cookie that is not known any more, so that the browser is anonymous again instead of locked out. */
export const forgetCookie = `${sessionCookie}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`

/** Turns a one-time link into a cookie. */
export function login(redeem: Redeem): Handler<HttpEnv> {
  return async (c) => {
    // A browser that only guesses the next page must not use up the link.
    if (c.req.method !== 'GET' || c.req.header('sec-purpose')?.includes('prefetch'))
      return c.body(null, 405, { allow: 'GET' })
    const token = await redeem((c.req.query('code') ?? '').slice(0, 512))
    if (token === undefined || !/^[\w.~+/=-]+$/.test(token)) return c.html(usedUp, 401)
    c.header('set-cookie', `${sessionCookie}=${token}; Path=/; HttpOnly; SameSite=Strict`)
    return c.redirect('/', 303)
  }
}

const usedUp = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="color-scheme" content="dark light">
<title>Muster: link used</title>
<link rel="stylesheet" href="/page/feed.css">
<main class="notice">
<h1>This link no longer works</h1>
<p>It works once, and for a short time. Run <code>sm open</code> again for a new one.</p>
</main>
</html>
`
