import { createInterface } from 'node:readline/promises'

/** Asks a person at the terminal; anything but yes is no. The answer of a program goes to standard output, so this does not. */
export async function confirm(question: string, signal: AbortSignal): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `, { signal })).trim())
  } finally {
    lines.close()
  }
}
