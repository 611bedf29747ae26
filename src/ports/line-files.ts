/** One whole line of a growing file: where it begins and the offset after its newline. */
export type FileLine = { readonly text: string; readonly start: number; readonly end: number }

/** Files that others write line by line. */
export type LineFiles = {
  /** Whole lines from an offset, at most about `maxBytes`; undefined when there is no such file. A shorter file than before begins anew at 0. */
  read(
    path: string,
    from: number,
    maxBytes: number,
  ): Promise<{ readonly lines: readonly FileLine[]; readonly end: number; readonly size: number } | undefined>
  /** Calls back when the file or folder may have changed, until the signal ends it; a missing one is waited for. */
  watch(path: string, onChange: () => void, signal: AbortSignal): void
}
