import type { Branches } from './branches.ts'

/**
 * Takes away what would be another way each time, or a way out, before a line of the script runs. The walls around the
 * process hold without this. It is sent to another process as text: it may use nothing but what it is given.
 */
export function seal({ here }: Branches, say: (text: string) => void): void {
  const world = globalThis as unknown as Record<string, unknown>
  const beganMs = here().nowMs
  const RealDate = Date
  const put = (on: object, name: string, value: unknown) =>
    Object.defineProperty(on, name, { value, configurable: false, writable: false, enumerable: false })

  const ScriptDate = function (this: unknown, ...given: unknown[]) {
    if (new.target === undefined) return new RealDate(here().nowMs).toString()
    return Reflect.construct(RealDate, given.length === 0 ? [here().nowMs] : given, new.target)
  }
  for (const name of ['UTC', 'parse'] as const) put(ScriptDate, name, RealDate[name])
  put(ScriptDate, 'now', () => here().nowMs)
  put(ScriptDate, 'prototype', RealDate.prototype)
  put(RealDate.prototype, 'constructor', ScriptDate)
  put(world, 'Date', ScriptDate)
  const { DateTimeFormat } = Intl
  const atNow = (name: 'format' | 'formatToParts') => {
    const known = Object.getOwnPropertyDescriptor(DateTimeFormat.prototype, name)
    Object.defineProperty(DateTimeFormat.prototype, name, {
      get(this: Intl.DateTimeFormat) {
        const own = (known?.get ? known.get.call(this) : known?.value) as (at: Date | number) => unknown
        return (at?: Date | number) => own.call(this, at ?? here().nowMs)
      },
    })
  }
  atNow('format')
  atNow('formatToParts')
  put(world, 'performance', Object.freeze({ now: () => here().nowMs - beganMs, timeOrigin: beganMs }))

  put(Math, 'random', () => here().random())
  const byte = () => Math.floor(here().random() * 256)
  const fill = (into: ArrayBufferView) => {
    const bytes = new Uint8Array(into.buffer, into.byteOffset, into.byteLength)
    for (let i = 0; i < bytes.length; i++) bytes[i] = byte()
    return into
  }
  const uuid = () => {
    const bytes = fill(new Uint8Array(16)) as Uint8Array
    bytes[6] = ((bytes[6] ?? 0) & 15) | 64
    bytes[8] = ((bytes[8] ?? 0) & 63) | 128
    const hex = Array.from(bytes, (one) => one.toString(16).padStart(2, '0')).join('')
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  }
  put(world, 'crypto', Object.freeze({ randomUUID: uuid, getRandomValues: fill }))

  const none = (name: string, instead: string) => () => {
    throw new Error(`a script has no ${name}; ${instead}`)
  }
  for (const name of ['setTimeout', 'setInterval', 'setImmediate'])
    put(world, name, none(name, 'wait for agents and approvals instead'))
  for (const name of ['fetch', 'WebSocket', 'EventSource', 'BroadcastChannel', 'MessageChannel'])
    put(world, name, none(name, 'let an agent look'))
  const exit = none('process.exit', 'return from its function')
  put(world, 'process', Object.freeze({ env: Object.freeze({}), argv: Object.freeze([]), exit }))
  const write = (...given: unknown[]) =>
    say(given.map((one) => (typeof one === 'string' ? one : (JSON.stringify(one) ?? String(one)))).join(' '))
  const names = ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const
  put(world, 'console', Object.freeze(Object.fromEntries(names.map((name) => [name, write]))))
}
