import { writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { onTestFinished } from 'vitest'
import { tempFolder } from './temp-journal.ts'

/** What a plugin sent, in the order in which it came. */
export type Heard = Record<string, unknown> & { readonly event?: string }

/** A daemon as a plugin sees it, which can go away and come back on its port. */
export type PluginDaemon = {
  readonly url: string
  readonly heard: Heard[]
  /** How the next requests are answered; nothing answers as if there was nothing to say. */
  answer: (heard: Heard) => unknown
  stop(): Promise<void>
  start(): Promise<void>
  /** Resolves when this many have been heard. */
  hears(count: number): Promise<void>
}

export async function pluginDaemon(): Promise<PluginDaemon> {
  const heard: Heard[] = []
  let waiting: { count: number; done: () => void }[] = []
  let port = 0
  const open = new Set<ServerResponse>()
  const make = () =>
    createServer((request, response) => {
      open.add(response)
      response.on('close', () => open.delete(response))
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        const said = JSON.parse(Buffer.concat(parts).toString()) as Heard
        heard.push({ ...said, authorization: request.headers.authorization })
        waiting = waiting.filter(({ count, done }) => heard.length < count || (done(), false))
        void Promise.resolve(daemon.answer(said)).then((answer) => {
          if (typeof answer === 'number') response.writeHead(answer).end()
          else response.writeHead(200).end(answer === undefined ? '' : JSON.stringify(answer))
        })
      })
    })
  let server = make()
  const daemon: PluginDaemon = {
    get url() {
      return `http://127.0.0.1:${port}/hook`
    },
    heard,
    answer: () => undefined,
    start: () =>
      new Promise((resolve) => {
        server = make()
        server.listen(port, '127.0.0.1', () => {
          port = (server.address() as AddressInfo).port
          resolve()
        })
      }),
    stop: () =>
      new Promise((resolve) => {
        for (const response of open) response.destroy()
        server.close(() => resolve())
        server.closeAllConnections()
      }),
    hears: (count) =>
      heard.length >= count
        ? Promise.resolve()
        : new Promise((done) => waiting.push({ count, done: () => done() })),
  }
  await daemon.start()
  onTestFinished(() => daemon.stop())
  return daemon
}

/** Loads the text of a plugin as its host would: from a file of its own. */
export async function loadPlugin(source: string): Promise<Record<string, unknown>> {
  const path = join(tempFolder('muster-plugin-'), 'plugin.mjs')
  writeFileSync(path, source)
  return (await import(/* @vite-ignore */ pathToFileURL(path).href)) as Record<string, unknown>
}
