/**
 * The part of a plugin inside another program that talks to the daemon, as JavaScript text without dependencies.
 * It uses node:http and not fetch, which in some programs goes through the user's proxy even to this machine.
 *
 * `ask(body, ms)` resolves with the daemon's answer, and rejects when there is none. `tell(body)` returns at once
 * and keeps the order; what cannot be delivered waits for the daemon to come back, and may come twice when an answer
 * was lost: `epoch` and `n` tell it then.
 */
export const pluginClient = (url: string): string => `
import { request } from 'node:http'

const url = ${JSON.stringify(url)}
const most = 2000
const token = process.env.MUSTER_TOKEN ?? ''
const epoch = Date.now().toString(36) + Math.random().toString(36).slice(2, 8)
let sent = 0
const numbered = (body) => ({ at: Date.now(), epoch, n: ++sent, ...body })

function ask(body, ms, cut) {
  return new Promise((resolve, reject) => {
    const text = JSON.stringify(body.n === undefined ? numbered(body) : body)
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      authorization: 'Bearer ' + token,
    }
    const asking = request(url, { method: 'POST', agent: false, headers }, (response) => {
      const parts = []
      response.on('data', (part) => parts.push(part))
      response.on('error', reject)
      response.on('end', () => {
        clearTimeout(timer)
        if (response.statusCode !== 200) {
          const refused = response.statusCode >= 400 && response.statusCode < 500
          return reject(Object.assign(new Error('Muster answered ' + response.statusCode), { refused }))
        }
        try {
          const said = Buffer.concat(parts).toString()
          resolve(said === '' ? {} : (JSON.parse(said) ?? {}))
        } catch (error) {
          reject(error)
        }
      })
    })
    const timer = setTimeout(() => asking.destroy(new Error('Muster did not answer in time')), ms)
    timer.unref?.()
    cut?.addEventListener('abort', () => asking.destroy(new Error('no longer asked')), { once: true })
    asking.on('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    asking.end(text)
  })
}

const waiting = []
let isTelling = false

function tell(body) {
  waiting.push(numbered(body))
  if (waiting.length > most) waiting.shift()
  if (!isTelling) void pump()
}

async function pump() {
  isTelling = true
  while (waiting.length > 0) {
    const [next] = waiting
    try {
      await ask(next, 3000)
      if (waiting[0] === next) waiting.shift()
    } catch (error) {
      if (error.refused && waiting[0] === next) waiting.shift()
      else await pause(1000)
    }
  }
  isTelling = false
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms).unref?.())
`
