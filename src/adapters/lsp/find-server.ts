import { promises as fs } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import type { NamedProgram } from '../../contract/definition-file.ts'
import type { FileTrust } from '../../ports/definitions.ts'
import { noFile } from '../system/foreign-files.ts'
import { areTrusted, namedPrograms } from '../system/named-programs.ts'
import { findProgram } from '../system/run-program.ts'

/** The language server of a project, or why there is none. */
export type FoundServer =
  | {
      readonly ok: true
      readonly argv: readonly string[]
      /** The TypeScript that it works with, where it may not take that of the project. */
      readonly typescript?: string
    }
  | {
      readonly ok: false
      readonly reason: string
      /** The project brings one that nobody trusts, and nothing would keep it in. */
      readonly isHeld?: true
    }

type Search = {
  readonly workspace: string
  readonly path: string
  /** What a person trusts of the project. */
  readonly trusts: FileTrust
  /** Whether a server would run behind walls; asked only for one that the project brings. */
  readonly hasWalls: () => Promise<boolean>
}

/**
 * TypeScript brings one from 7 on; before, one of the project or of the machine is taken. What a project brings is
 * whatever its authors put there: without walls it runs only when a person trusts it.
 */
export async function findServer({ workspace, path, trusts, hasWalls }: Search): Promise<FoundServer> {
  const own = await serversIn(workspace)
  for (const [file, args] of own)
    if ((await hasWalls()) || (await isTrusted(workspace, file, trusts)))
      return { ok: true, argv: [join(workspace, file), ...args] }
  const root = await fs.realpath(workspace)
  for (const [command, args] of usual) {
    const program = await findOutside(command, path, root)
    if (program === undefined) continue
    const argv = [program, ...args]
    if (command !== older || (await hasWalls())) return { ok: true, argv }
    const typescript = await typescriptBeside(program, root)
    if (typescript !== undefined) return { ok: true, argv, typescript }
  }
  const [held] = own
  if (held)
    return {
      ok: false,
      isHeld: true,
      reason: `the language server ${held[0]} is a program of the project, and without bubblewrap nothing would keep it in; install bubblewrap, or trust it with: sm trust`,
    }
  return {
    ok: false,
    reason:
      'there is no TypeScript language server: install typescript 7 or typescript-language-server in the project',
  }
}

/** The servers that a project brings, as `sm trust` shows them. */
export async function projectServers(root: string): Promise<readonly NamedProgram[]> {
  const files = (await serversIn(root)).map(([file]) => file)
  return (await Promise.all(files.map((file) => namedPrograms(root, [file])))).flat()
}

type Server = readonly [command: string, args: readonly string[]]

const older = 'typescript-language-server'

const usual: readonly Server[] = [
  [older, ['--stdio']],
  ['tsgo', ['--lsp', '-stdio']],
]

const bin = 'node_modules/.bin'

/** Paths from the root, the best one first. */
async function serversIn(root: string): Promise<readonly Server[]> {
  const isNew = (await majorOf(join(root, 'node_modules', 'typescript'))) >= 7
  const names: readonly Server[] = [
    ...(isNew ? [['tsc', ['--lsp', '-stdio']] as const] : []),
    ...usual.toReversed(),
  ]
  const all = names.map(([name, args]): Server => [join(bin, name), args])
  const found = await Promise.all(all.map(([file]) => findProgram(join(root, file))))
  return all.filter((_, i) => found[i] !== undefined)
}

async function isTrusted(root: string, file: string, trusts: FileTrust): Promise<boolean> {
  const programs = await namedPrograms(root, [file])
  return programs.length > 0 && areTrusted(programs, trusts)
}

/** A program on the PATH that no file of the project is, however the PATH names it. */
async function findOutside(command: string, path: string, root: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter)) {
    const program = await findProgram(command, folder)
    const places = program === undefined ? [] : [await fs.realpath(folder), await fs.realpath(program)]
    if (program !== undefined && !places.some((place) => isWithin(place, root))) return program
  }
  return undefined
}

const isWithin = (path: string, folder: string): boolean => `${path}/`.startsWith(`${folder}/`)

/** The older server runs the TypeScript of the project unless it is told another; it can be since its version 4. */
async function typescriptBeside(program: string, root: string): Promise<string | undefined> {
  const [, modules] =
    /^(.*\/node_modules)\/typescript-language-server\//.exec(await fs.realpath(program)) ?? []
  if (modules === undefined || (await majorOf(join(modules, older))) < 4) return undefined
  const server = await fs.realpath(join(modules, 'typescript/lib/tsserver.js')).catch(noFile)
  return server === undefined || isWithin(server, root) ? undefined : dirname(server)
}

async function majorOf(folder: string): Promise<number> {
  const file = join(folder, 'package.json')
  const text = await fs.readFile(file, 'utf8').catch(() => '')
  return Number(/"version"\s*:\s*"(\d+)\./.exec(text)?.[1] ?? 0)
}
