import { expect, test } from 'vitest'
import { AppError } from '../../contract/errors.ts'
import { systemClock } from '../system/clock.ts'
import { keepConnection, type Link } from './connection.ts'

/** A link of which the test says when it breaks; closing it ends it, as with a real client. */
function fakeLink() {
  const gone = Promise.withResolvers<AppError>()
  let isClosed = false
  const client = {
    closed: gone.promise,
    run: () => Promise.reject(new Error('nothing is run')),
    close: async () => {
      isClosed = true
      gone.resolve(new AppError('unavailable', 'closed'))
    },
  }
  const link: Link = { client, server: '1-1', socketPath: '', pasteFlags: '-p -r -d' }
  return { link, breaks: () => gone.resolve(new AppError('unavailable', 'gone')), isClosed: () => isClosed }
}

test('[MUS-118] letting go while the connection is being made again ends, and closes the new one too', async () => {
  const [first, second] = [fakeLink(), fakeLink()]
  const connecting = Promise.withResolvers<Link>()
  const asked = Promise.withResolvers<void>()
  let count = 0
  const connection = await keepConnection({
    clock: systemClock,
    connect: () => {
      count += 1
      if (count === 1) return Promise.resolve(first.link)
      asked.resolve()
      return connecting.promise
    },
    settle: async () => {},
    tell: () => {},
    onBug: () => {},
  })
  first.breaks()
  await asked.promise
  const waiting = connection.run({ commands: () => ['x'] }, new AbortController().signal)
  const released = connection.release([])
  connecting.resolve(second.link)
  await released
  expect(second.isClosed()).toBe(true)
  await expect(waiting).rejects.toMatchObject({ code: 'unavailable' })
})

test('[MUS-283] a bug while the connection is made again is told, and the next attempt is made all the same', async () => {
  const [first, second] = [fakeLink(), fakeLink()]
  const restored = Promise.withResolvers<void>()
  const bugs: unknown[] = []
  const links = [first.link, new TypeError('a list that nobody can read'), second.link]
  const connection = await keepConnection({
    clock: systemClock,
    connect: async () => {
      const next = links.shift()
      if (!next || next instanceof TypeError) throw next ?? new Error('no more')
      return next
    },
    settle: async () => {},
    tell: (kind) => {
      if (kind === 'restored') restored.resolve()
    },
    onBug: (error) => bugs.push(error),
  })
  first.breaks()
  await restored.promise
  expect(connection.link).toBe(second.link)
  expect(bugs).toEqual([expect.any(TypeError)])
  await connection.release([])
})
