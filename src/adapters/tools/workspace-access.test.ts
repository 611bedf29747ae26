import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { workspaceTurns } from './workspace-access.ts'

const never = new AbortController().signal

function script() {
  const turns = workspaceTurns()
  const log: string[] = []
  const ends = new Map<string, () => void>()
  const act = (name: string) => () => {
    log.push(`+${name}`)
    return new Promise<void>((resolve) => {
      ends.set(name, () => {
        log.push(`-${name}`)
        resolve()
      })
    })
  }
  const end = async (name: string) => {
    ends.get(name)?.()
    await turn()
  }
  return { turns, log, act, end }
}

test('[MUS-254] those that share run together; who must be alone waits for them, and later ones for him', async () => {
  const { turns, log, act, end } = script()
  const all = [
    turns.shared('/w', never, act('a')),
    turns.shared('/w', never, act('b')),
    turns.alone('/w', never, act('c')),
    turns.shared('/w', never, act('d')),
    turns.alone('/other', never, act('e')),
  ]
  await turn()
  expect(log.toSorted()).toEqual(['+a', '+b', '+e'])
  await end('a')
  await end('b')
  expect(log.slice(3)).toEqual(['-a', '-b', '+c'])
  await end('c')
  expect(log.slice(6)).toEqual(['-c', '+d'])
  await end('d')
  await end('e')
  await Promise.all(all)
})

test('[MUS-254] who gives up waiting holds up nobody, and a failure gives the turn on', async () => {
  const { turns, log, act, end } = script()
  const stop = new AbortController()
  const first = turns.alone('/w', never, act('a'))
  const second = turns.alone('/w', stop.signal, act('b'))
  const third = expect(turns.shared('/w', never, () => Promise.reject(new Error('broke')))).rejects.toThrow(
    'broke',
  )
  const fourth = turns.alone('/w', never, act('d'))
  stop.abort(new Error('given up'))
  await expect(second).rejects.toThrow('given up')
  await end('a')
  await first
  await third
  await turn()
  await end('d')
  await fourth
  expect(log).toEqual(['+a', '-a', '+d', '-d'])
})
