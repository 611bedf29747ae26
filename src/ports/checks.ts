/** What a command showed. */
export type Checked = {
  readonly passed: boolean
  readonly exitCode: number | undefined
  /** The end of what it printed. */
  readonly output: string
  readonly durationMs: number
}

/** Runs the commands by which a project is checked; what they change is thrown away. */
export type Checks = {
  run(
    command: string,
    where: { readonly folder: string; readonly timeoutMs: number },
    signal: AbortSignal,
  ): Promise<Checked>
}
