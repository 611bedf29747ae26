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
      readonly mark: { readonly name: string; readonly value: string }
    },
    options: { readonly graceMs: number },
    signal: AbortSignal,
  ): Promise<readonly number[]>
}
