/** A process as the system lists it. */
export type ProcessInfo = {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly startedAtMs: number
  readonly rssBytes: number
  readonly cpuMs: number
  readonly command: string
}

/** Processes that belong together: the pid of each, and what tells it from a later one that gets the same pid. */
export type Kin = ReadonlyMap<number, string>

/** A program and what is known to belong to it. */
export type Family = {
  readonly pid: number
  /** As `list` told it: a process with the same pid that started at another time is another one. */
  readonly startedAtMs: number
  readonly known: Kin
}

/** A process that belongs to nobody as far as the system tells, and in which of some folders it is or has a file open. */
export type Stray = ProcessInfo & { readonly folders: readonly string[] }

/** The processes of this machine. */
export type Processes = {
  list(signal: AbortSignal): Promise<readonly ProcessInfo[]>
  /** Those whose environment or whose group has this value; what ran away from its parents is found by it. */
  marked(name: string, value: string, signal: AbortSignal): Promise<readonly number[]>
  /** Those whose environment or whose group has all of these names, with the values. */
  carrying<N extends string>(
    names: readonly N[],
    signal: AbortSignal,
  ): Promise<readonly { readonly pid: number; readonly values: Readonly<Record<N, string>> }[]>
  /** When a process started; nothing when there is none with this pid, or it is ending. */
  startedAt(pid: number): Promise<number | undefined>
  /** A variable of the environment that a process was started with; nothing where the system does not tell. */
  variable(pid: number, name: string): Promise<string | undefined>
  /**
   * Makes a group that a process joins by writing its pid to the file that is answered; it and all that it starts carry
   * the marks for ever then. Nothing where the system has no such groups for this user.
   */
  openGroup(marks: Readonly<Record<string, string>>): Promise<string | undefined>
  /** Removes a group that nobody is in any more. */
  closeGroup(marks: Readonly<Record<string, string>>): Promise<void>
  /** Looks once who belongs to each of these: whom it was seen with before, and who was started by one of them. */
  kin(families: readonly Family[], signal: AbortSignal): Promise<readonly Kin[]>
  /**
   * Those of this user that left whoever started them, do not carry this name in their environment or by their group,
   * and are in one of these folders. `programs` are some that run in terminals: what holds those is not meant.
   */
  strays(
    given: {
      readonly mark: string
      readonly folders: readonly string[]
      readonly programs: readonly number[]
    },
    signal: AbortSignal,
  ): Promise<readonly Stray[]>
  /**
   * Ends a process, its descendants, the groups and terminal sessions that they lead, and all that carry the mark;
   * answers what is still alive after it. Never ends this process or anything in its group.
   */
  endTree(
    root: {
      readonly pid?: number
      /** It is over: only what it led is ended, never a later process that got its pid. */
      readonly hasEnded?: true
      /** As `list` told it: a process with the same pid that started at another time is left alone. */
      readonly startedAtMs?: number
      /** Who was seen to belong to it before. */
      readonly known?: Kin
      readonly mark: { readonly name: string; readonly value: string }
    },
    options: { readonly graceMs: number },
    signal: AbortSignal,
  ): Promise<readonly number[]>
}
