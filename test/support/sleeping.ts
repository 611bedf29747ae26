import { readdirSync, readFileSync } from 'node:fs'

/** Processes that sleep for just so long; one that has ended and was not yet noticed has no arguments. */
export function sleeping(seconds: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8') === `sleep\0${seconds}\0`
    } catch {
      // It ended meanwhile.
      return false
    }
  })
}
