import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../test/support/size.ts'
import { tempFolder } from '../../../test/support/temp-journal.ts'
import { findPlace } from './place.ts'

const name = fc.constantFrom('a', 'b', 'c')
const path = fc.array(fc.oneof({ weight: 4, arbitrary: name }, fc.constantFrom('..', '.')), {
  minLength: 1,
  maxLength: 5,
})
const made = fc.record({
  at: fc.array(name, { minLength: 1, maxLength: 3 }),
  to: fc.option(path),
  isAbsolute: fc.boolean(),
})

test('[MUS-254] whatever links there are, a path is resolved as the system resolves it, also to what is not there yet', async () => {
  const root = realpathSync(tempFolder('mplace-'))
  let n = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(made, { maxLength: 8 }),
      fc.array(path, { minLength: 5, maxLength: 10 }),
      async (things, asked) => {
        const workspace = join(root, String((n += 1)), 'w')
        mkdirSync(workspace, { recursive: true })
        for (const { at, to, isAbsolute } of things)
          try {
            mkdirSync(dirname(join(workspace, ...at)), { recursive: true })
            if (to) symlinkSync(`${isAbsolute ? `${workspace}/` : ''}${to.join('/')}`, join(workspace, ...at))
            else writeFileSync(join(workspace, ...at), '')
          } catch {
            // Something else is there already.
          }
        for (const parts of asked) {
          const given = parts.join('/')
          const expected = realpathOf(`${workspace}/${given}`)
          if (expected === undefined) continue
          expect((await findPlace(workspace, given)).full).toBe(expected)
          expect((await findPlace(workspace, `${given}/new`)).full).toBe(join(expected, 'new'))
        }
      },
    ),
    runs(60),
  )
})

function realpathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}
