/**
 * The part of a plugin inside another program that talks to the daemon, as JavaScript text without dependencies.
 * It speaks HTTP on a plain socket: the host's own fetch and http may go through the user's proxy even to this
 * machine. HTTP/1.0, so that an answer comes in one piece and ends with the connection.
 *
 * `ask(body, ms)` resolves with the daemon's answer, and rejects when there is none. `tell(body)` keeps the order;
 * what cannot be delivered waits for the daemon to come back, and may come twice when an answer was lost: `epoch` and
 * `n`, which rise by one in the order of telling, show it then. It resolves when the daemon has it, or at once when
 * the daemon is away: a caller whose next step must not overtake it can wait for that.
 */
export const pluginClient = (url: string): string => `
import { connect } from 'node:net'

const { host, hostname, port, pathname } = new URL(${JSON.stringify(url)})
const most = 2000
/** What a daemon that has too much to do answers: the same is told again. */
const later = new Set([408, 429])
const token = process.env.MUSTER_TOKEN ?? ''
const epoch = Date.now().toString(36) + Math.random().toString(36).slice(2, 8)
let sent = 0
const dated = (body) => ({ at: Date.now(), ...body })

function ask(body, ms, cut) {
  return new Promise((resolve, reject) => {
    const text = JSON.stringify(body.n === undefined ? dated(body) : body)
    const head = [
      'POST ' + pathname + ' HTTP/1.0',
      'host: ' + host,
      'content-type: application/json',
      'content-length: ' + Buffer.byteLength(text),
      'authorization: Bearer ' + token,
    ]
    const parts = []
    const socket = connect({ host: hostname.replace(/^\\[|\\]$/g, ''), port: Number(port) })
    const fail = (error) => {
      clearInterval(timer)
      socket.destroy()
      reject(error)
    }
    // A host without a turn for seconds sees its timer before what has come for it: only turns that it had count.
    let turns = 30
    const late = () => --turns > 0 || fail(Object.assign(new Error('Muster did not answer in time'), { late: true }))
    const timer = setInterval(late, ms / turns)
    timer.unref?.()
    cut?.addEventListener('abort', () => fail(new Error('no longer asked')), { once: true })
    socket.on('error', fail)
    socket.on('connect', () => socket.write(head.join('\\r\\n') + '\\r\\n\\r\\n' + text))
    socket.on('data', (part) => parts.push(part))
    socket.on('close', () => {
      clearInterval(timer)
      try {
        resolve(read(Buffer.concat(parts)))
      } catch (error) {
        reject(error)
      }
    })
  })
}

/** The answer in what came back; one that was cut off is none. */
function read(said) {
  const end = said.indexOf('\\r\\n\\r\\n')
  if (end < 0) throw new Error('Muster did not answer')
  const head = said.toString('latin1', 0, end)
  const body = said.subarray(end + 4)
  const status = Number(/^HTTP\\/1\\.[01] (\\d{3})/.exec(head)?.[1])
  if (status !== 200) throw Object.assign(new Error('Muster answered ' + status), { refused: status >= 400 && status < 500 && !later.has(status) })
  const length = /^content-length: *(\\d+)/im.exec(head)?.[1]
  if (length !== undefined && Number(length) !== body.length) throw new Error('the answer of Muster was cut off')
  return body.length === 0 ? {} : (JSON.parse(body.toString()) ?? {})
}

const waiting = []
let isTelling = false
let isAway = false
let patienceMs = 3000
const heard = new Map()

function tell(body) {
  const next = { ...dated(body), epoch, n: ++sent }
  waiting.push(next)
  if (waiting.length > most) waiting.shift()
  const known = isAway ? undefined : new Promise((resolve) => heard.set(next, resolve))
  if (!isTelling) void pump()
  return known
}

async function pump() {
  isTelling = true
  while (waiting.length > 0) {
    const [next] = waiting
    try {
      await ask(next, patienceMs)
      isAway = false
      patienceMs = 3000
      take(next)
    } catch (error) {
      if (error.refused) take(next)
      else {
        // Told again just as impatiently, nothing would ever arrive at a daemon that takes longer.
        if (error.late) patienceMs = Math.min(2 * patienceMs, 60_000)
        isAway = true
        for (const goOn of heard.values()) goOn()
        heard.clear()
        await pause(1000)
      }
    }
  }
  isTelling = false
}

function take(told) {
  if (waiting[0] === told) waiting.shift()
  heard.get(told)?.()
  heard.delete(told)
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms).unref?.())
`
