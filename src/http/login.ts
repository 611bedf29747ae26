import type { Handler } from 'hono'
import type { HttpEnv } from './environment.ts'
import { sessionCookie } from './guard-access.ts'

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
<h1>This link does not work any more</h1>
<p>It works once, and for a short time. Run <code>sm open</code> again for a new one.</p>
<p><a href="/">Go on without logging in</a> (reading only)</p>
</main>
</html>
`
