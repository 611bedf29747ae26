import { glob, mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { build, type Plugin } from 'esbuild'

/**
 * What is built: a pattern under the root, and the name of its output; a pattern without a match fails. They share no
 * chunk: each runs with other flags of V8, and code that was compiled under one set is thrown away under another.
 */
const entries = [
  { pattern: 'src/cli/main.ts', name: () => 'sm' },
  { pattern: 'src/daemon/main.ts', name: () => 'daemon' },
  { pattern: 'src/daemon/*-worker.ts', name: (file: string) => basename(file, '.ts') },
] as const

const dayMs = 24 * 60 * 60 * 1000

/** Bundles `sm`, the daemon and its workers into a folder that a running program may be loading from. */
export async function buildAll(root: string, out: string): Promise<string[]> {
  // File times are a few milliseconds coarse: a source saved right after the start may look older than it.
  const startedAt = new Date(Date.now() - 20)
  const built = await Promise.all(
    entries.map(async ({ pattern, name }) => {
      const found = (await Array.fromAsync(glob(pattern, { cwd: root }))).sort()
      if (found.length === 0) throw new Error(`nothing matches ${pattern}, which the build needs`)
      const { outputFiles } = await bundle(
        root,
        out,
        new Map(found.map((file) => [name(file), join(root, file)])),
      )
      return outputFiles
    }),
  )
  // Chunks first, so that a program that starts in the middle never meets an entry whose chunks are missing.
  const files = built.flat().toSorted((a, b) => Number(isChunk(b.path)) - Number(isChunk(a.path)))
  await mkdir(out, { recursive: true })
  for (const file of files) {
    const fresh = `${file.path}.${process.pid}.new`
    await writeFile(fresh, file.contents)
    // A source that was saved while we built must count as newer than the build.
    await utimes(fresh, startedAt, startedAt)
    await rename(fresh, file.path)
  }
  await sweep(out, new Set(files.map((file) => file.path)), startedAt)
  return files.filter((file) => !isChunk(file.path)).map((file) => file.path)
}

/** Bundles programs that share their chunks, which carry the name of the first of them. */
function bundle(root: string, out: string, programs: ReadonlyMap<string, string>) {
  const [first = ''] = programs.keys()
  return build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(programs),
    outdir: out,
    write: false,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    outExtension: { '.js': '.mjs' },
    // Beside the entries, so that code finds a worker beside itself whichever file it was put into.
    chunkNames: `${first}-[name]-[hash]`,
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    // Bundled CommonJS asks for Node's own modules by require, which an ES module does not have.
    banner: {
      js: "import{createRequire as __require_from}from'node:module';const require=__require_from(import.meta.url);",
    },
    plugins: [lazyHttp],
    logLevel: 'warning',
  })
}

/**
 * An ES module that imports `node:http` has all of its exports read at once, and for some of them Node loads a whole
 * second HTTP client: 70 ms of every start. Read by their names, only what is used is loaded.
 */
const lazyHttp: Plugin = {
  name: 'lazy-http',
  setup(bundler) {
    bundler.onResolve({ filter: /^(node:)?https?$/ }, ({ path }) => ({
      path: path.replace('node:', ''),
      namespace: 'lazy-http',
    }))
    bundler.onLoad({ filter: /./, namespace: 'lazy-http' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('node:${path}')`,
    }))
  },
}

function isChunk(path: string): boolean {
  return /-[0-9A-Z]{8}\.mjs$/.test(path)
}

// A daemon of the build before still loads its chunks on demand: they stay for a while.
async function sweep(out: string, kept: ReadonlySet<string>, now: Date): Promise<void> {
  for (const name of await readdir(out)) {
    const path = join(out, name)
    if (isChunk(path) && !kept.has(path) && now.getTime() - (await stat(path)).mtimeMs > 30 * dayMs)
      await rm(path, { force: true })
  }
}

if (import.meta.main) {
  const root = resolve(import.meta.dirname, '..')
  const { values } = parseArgs({ options: { out: { type: 'string', default: join(root, 'dist') } } })
  try {
    await buildAll(root, resolve(values.out))
  } catch (error) {
    // What does not compile has been told by esbuild itself, with its place.
    if (!(error instanceof Error)) throw error
    if (!('errors' in error)) console.error(error.message)
    process.exitCode = 1
  }
}
