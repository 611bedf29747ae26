import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')

/** The whole suite runs what people run, which it has just built; a single file runs the sources, with nothing to build first. */
const isBuilt = process.env['MUSTER_TESTS_RUN'] === 'built'

export const builtDaemon = join(root, 'dist/daemon.mjs')
export const daemonProgram = isBuilt ? builtDaemon : join(root, 'src/daemon/main.ts')
export const smProgram = join(root, isBuilt ? 'dist/sm.mjs' : 'src/cli/main.ts')
