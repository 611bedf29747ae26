import * as z from 'zod'
import { Count } from '../../values.ts'
import { FileId } from '../std-001/parts.ts'

/** A file an agent should read, and why; a plain path is taken as well. */
export const ContextFile = z.union([
  z.string(),
  z.strictObject({
    path: z.string(),
    reason: z.string().optional(),
    sections: z.array(z.string()).optional(),
  }),
])

/** What a developer is given. */
export const DeveloperInput = z
  .strictObject({
    task_id: FileId,
    task_description: z.string(),
    context: z
      .strictObject({
        specs: z.array(ContextFile).optional(),
        reference_files: z.array(ContextFile).optional(),
        previous_attempts: z
          .array(z.strictObject({ attempt_number: Count, outcome: z.string(), feedback: z.string() }))
          .optional(),
      })
      .optional(),
    constraints: z
      .strictObject({
        scope: z.array(z.string()).optional(),
        testing_required: z.boolean().optional(),
        must_not_break: z.array(z.string()).optional(),
        style_guide: z.string().optional(),
      })
      .optional(),
    acceptance_criteria: z.array(z.string()).optional(),
  })
  .meta({ id: 'DeveloperInput' })

/** One changed file. */
export const FileChange = z
  .strictObject({
    path: z.string(),
    change_type: z.enum(['created', 'modified', 'deleted']).optional(),
    lines_added: Count.optional(),
    lines_removed: Count.optional(),
    description: z.string().optional(),
  })
  .meta({ id: 'FileChange' })
export type FileChange = z.infer<typeof FileChange>

/** What a developer says of its own checks. */
export const SelfReview = z.strictObject({
  tests_run: z.boolean(),
  tests_passed: z.boolean(),
  type_check_passed: z.boolean(),
  known_issues: z.array(z.string()).optional(),
})

/** What a developer gives back. */
export const DeveloperOutput = z
  .strictObject({
    task_id: FileId,
    status: z.enum(['completed', 'partial', 'failed']),
    changes: z.strictObject({
      files_created: z.array(FileChange),
      files_modified: z.array(FileChange),
      files_deleted: z.array(z.string()),
    }),
    summary: z.string(),
    implementation_notes: z.string().optional(),
    self_review: SelfReview.optional(),
    blockers: z.array(z.string()).optional(),
    suggestions: z.array(z.string()).optional(),
    original_status: z.unknown().optional(),
  })
  .meta({ id: 'DeveloperOutput' })
export type DeveloperOutput = z.infer<typeof DeveloperOutput>
