/** Where a definition was found; a project's file hides a user's, and that one a shipped one. */
export type DefinitionSource = 'shipped' | 'user' | 'project'

/** What every definition on disk has: names in lower case, and its place. */
export type Definition = {
  readonly name: string
  readonly aliases: readonly string[]
  readonly source: DefinitionSource
  readonly file: string
  /** The line of each field in its file. */
  readonly lines: Readonly<Record<string, number>>
}

/** Something wrong with a definition; an error means that its file is not used. */
export type DefinitionProblem = {
  readonly file: string
  readonly line: number
  readonly severity: 'error' | 'warning'
  readonly message: string
}

/** A file that another of the same name hides. */
export type ShadowedDefinition = Pick<Definition, 'name' | 'source' | 'file'> & { readonly by: string }

/** A program of a project that a command there names: its path from the root, and the digest of its bytes. */
export type NamedProgram = { readonly file: string; readonly sha256: string }

/** A project's file that is not trusted as it is, and what of it is not in force for that. */
export type HeldDefinition = {
  readonly file: string
  readonly sha256: string
  readonly programs: readonly NamedProgram[]
  readonly says: readonly string[]
}
