import { type FileOps, systemFileOps } from '../../src/adapters/jsonl/file-ops.ts'

export type Fault = {
  readonly call: 'write' | 'truncate'
  readonly nth: number
  readonly code: string
  readonly partial?: number
}

/** Real file calls, but the Nth of a kind fails once with the given errno; a write may put some bytes down first. */
export function failingOps(fault: Fault): FileOps & { fired(): boolean } {
  const seen = { write: 0, truncate: 0 }
  let fired = false
  const fails = (call: Fault['call']): boolean => {
    seen[call] += 1
    const now = !fired && fault.call === call && seen[call] === fault.nth
    if (now) fired = true
    return now
  }
  const error = () => Object.assign(new Error(`${fault.code} by the test`), { code: fault.code })
  return {
    fired: () => fired,
    async write(fd, bytes, position) {
      if (fails('write')) {
        await systemFileOps.write(fd, bytes.subarray(0, fault.partial ?? 0), position)
        throw error()
      }
      await systemFileOps.write(fd, bytes, position)
    },
    async truncate(fd, length) {
      if (fails('truncate')) throw error()
      await systemFileOps.truncate(fd, length)
    },
  }
}
