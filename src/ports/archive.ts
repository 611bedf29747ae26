/** Copies of transcripts that outlive their sessions, without their secrets. */
export type Archive = {
  /** Keeps the files under a name; answers where, or nothing when there was none to keep. */
  keep(
    name: string,
    paths: readonly string[],
    signal: AbortSignal,
  ): Promise<{ readonly path: string; readonly files: number; readonly bytes: number } | undefined>
}
