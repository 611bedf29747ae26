/** What tmux answered to one command. */
export type Block = {
  readonly lines: readonly string[]
  readonly isError: boolean
}

/** Who is told what comes out of a control-mode client. */
export type ControlHandler = {
  /** An answer to a command that came in through this client. */
  block(block: Block): void
  /** A line that nobody asked for, such as `%sessions-changed`. */
  notice(line: string): void
}

/** Reads the control protocol of tmux from chunks that end anywhere. */
export function controlParser(handler: ControlHandler): (chunk: string) => void {
  let rest = ''
  let open: { guard: string; lines: string[] } | undefined

  const line = (text: string): void => {
    if (open === undefined) {
      if (text.startsWith('%begin ')) open = { guard: text.slice('%begin '.length), lines: [] }
      else handler.notice(text)
      return
    }
    // Only the guard of the block's own begin ends it: a screen may show any text, `%end` too.
    const isError = text === `%error ${open.guard}`
    if (!isError && text !== `%end ${open.guard}`) {
      open.lines.push(text)
      return
    }
    const { guard, lines } = open
    open = undefined
    // The last figure is 1 for commands of this client; hooks and other clients' commands have 0.
    if (guard.endsWith(' 1')) handler.block({ lines, isError })
  }

  return (chunk) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const text of lines) line(text)
  }
}
