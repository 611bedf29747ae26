import * as z from 'zod'
import { Line, Timestamp } from './values.ts'

/** What a part of a project is that could run a program or loosen a rule. */
export const TrustKind = z.enum(['settings', 'agent', 'crew', 'script', 'git', 'program'])

/** A file of a project with exactly this content; its path is from the root. A driver of git is named by its section. */
export const TrustedFile = z.strictObject({
  kind: TrustKind,
  file: Line,
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 hex digits'),
})
export type TrustedFile = z.infer<typeof TrustedFile>

/** A file that could run a program or loosen a rule, and what it would do. */
export type TrustItem = TrustedFile & { readonly says: readonly string[] }

/** What a look at a project found. */
export type ProjectInspection = {
  readonly root: string
  readonly items: readonly TrustItem[]
  /** What trust does not cover, and why. */
  readonly notes: readonly string[]
}

/** A project as people see what is trusted of it, and what is not. */
export const TrustView = z.strictObject({
  root: z.string(),
  /** When somebody last trusted it; null when nobody has. */
  trusted_at: Timestamp.nullable(),
  items: z.array(
    z.strictObject({
      ...TrustedFile.shape,
      says: z.array(z.string()),
      /** `ended`: it changed after it was trusted. `gone`: it is not there now, or nothing names it. */
      state: z.enum(['trusted', 'ended', 'gone', 'untrusted']),
    }),
  ),
  notes: z.array(z.string()),
})
export type TrustView = z.infer<typeof TrustView>

/** What is trusted of one project: the content of each file, and which of them were seen to change since. */
export const ProjectTrust = z.strictObject({
  root: z.string(),
  trustedAt: z.string(),
  files: z.array(z.strictObject({ ...TrustedFile.shape, hasEnded: z.literal(true).optional() })).readonly(),
})
export type ProjectTrust = Readonly<z.infer<typeof ProjectTrust>>

/** As many files are trusted at one time. */
export const mostTrusted = 500
