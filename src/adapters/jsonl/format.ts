import { hash } from 'node:crypto'
import * as z from 'zod'
import { AppError } from '../../contract/errors.ts'

/** What this code writes, and the oldest code that may read it. */
export const formatVersion = 1

/** The chain before the first batch of the first segment. */
export const genesis = '0'.repeat(64)

const digestLength = 32

const Header = z.object({
  journal: z.object({
    version: z.int(),
    minReader: z.int(),
    segment: z.int(),
    firstSeq: z.int(),
    chain: z.string(),
    createdAt: z.string(),
  }),
})
export type Header = z.infer<typeof Header>['journal']

/** A commit line closes a batch: how many lines, the last seq, a digest for each line, and the chain so far. */
export type Commit = { n: number; seq: number; chain: string; lines: string }

export const headerLine = (header: Header): string => `${JSON.stringify({ journal: header })}\n`

export function parseHeader(line: string, file: string): Header {
  const parsed = Header.safeParse(tryJson(line))
  if (!parsed.success)
    throw new AppError('failed', `${file} does not begin with a journal header; move it away or restore it`)
  if (parsed.data.journal.minReader > formatVersion)
    throw new AppError(
      'failed',
      `${file} was written by a newer Muster (format ${parsed.data.journal.version}); upgrade this one`,
    )
  return parsed.data.journal
}

/** Half of a sha256: enough to name a damaged line, and half the bytes in every commit. */
export const lineDigest = (line: string | Uint8Array): string =>
  hash('sha256', line, 'hex').slice(0, digestLength)

export const nextChain = (chain: string, digests: string): string => hash('sha256', chain + digests, 'hex')

export const isCommit = (line: string): boolean => line.startsWith('{"commit":')

export const commitLine = (commit: Commit): string => `${JSON.stringify({ commit })}\n`

export function parseCommit(line: string): Commit | undefined {
  const value = tryJson(line) as { commit?: Partial<Commit> } | undefined
  const commit = value?.commit
  if (!commit || !Number.isInteger(commit.n) || !Number.isInteger(commit.seq)) return undefined
  if (typeof commit.chain !== 'string' || typeof commit.lines !== 'string') return undefined
  return commit as Commit
}

export const digestAt = (commit: Commit, i: number): string =>
  commit.lines.slice(i * digestLength, (i + 1) * digestLength)

/** Every event line begins with its seq, so that a scan need not parse the rest. */
export function seqOf(line: string): number {
  if (!line.startsWith('{"seq":')) return Number.NaN
  const end = line.indexOf(',', 7)
  return end === -1 ? Number.NaN : Number(line.slice(7, end))
}

function tryJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
