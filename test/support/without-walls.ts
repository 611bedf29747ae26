import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempFolder } from './temp-journal.ts'

const stub = `#!/bin/sh
case $1 in --version) echo bubblewrap 0.8.0 ;; *) echo "No permissions to create new namespace" >&2; exit 1 ;; esac
`

/** The environment of a machine on which bubblewrap may make no namespace. */
export function withoutWalls(): { readonly PATH: string } {
  const bin = tempFolder('mbin-')
  // For a daemon of another user too.
  chmodSync(bin, 0o755)
  writeFileSync(join(bin, 'bwrap'), stub, { mode: 0o755 })
  return { PATH: `${bin}:${process.env['PATH']}` }
}
