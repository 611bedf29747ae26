import * as z from 'zod'
import { Count, Verdict } from '../values.ts'
import { FileId } from './agent-session.ts'

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
    /** What it said of its checks, where nobody saw them run. */
    original_self_review: z.unknown().optional(),
  })
  .meta({ id: 'DeveloperOutput' })
export type DeveloperOutput = z.infer<typeof DeveloperOutput>

/** What a review can look at. */
export const FocusArea = z.enum([
  'security',
  'performance',
  'style',
  'logic',
  'error_handling',
  'test_coverage',
])

/** The files of a review and what to look at in them. */
export const ReviewScope = z.strictObject({
  files: z.array(z.string()),
  focus_areas: z.array(FocusArea).optional(),
  ignore_patterns: z.array(z.string()).optional(),
})

/** What a reviewer is given; the example's bare list of files is a scope without areas. */
export const ReviewerInput = z
  .strictObject({
    review_id: FileId.optional(),
    task_id: FileId,
    files: z.array(z.string()).optional(),
    scope: ReviewScope.optional(),
    review_scope: ReviewScope.optional(),
    criteria: z
      .strictObject({
        must_pass_tests: z.boolean().optional(),
        must_pass_type_check: z.boolean().optional(),
        must_pass_lint: z.boolean().optional(),
        custom_checks: z
          .array(
            z.union([
              z.string(),
              z.strictObject({ name: z.string(), command: z.string(), expected_exit_code: z.int() }),
            ]),
          )
          .optional(),
      })
      .optional(),
    context: z
      .strictObject({
        task_description: z.string().optional(),
        acceptance_criteria: z.array(z.string()).optional(),
        previous_reviews: z
          .array(
            z.strictObject({ review_number: Count, verdict: Verdict, key_findings: z.array(z.string()) }),
          )
          .optional(),
      })
      .optional(),
  })
  .meta({ id: 'ReviewerInput' })

/** One thing a reviewer found; `test` is a category of older writers. */
export const ReviewFinding = z
  .strictObject({
    finding_id: FileId,
    severity: z.enum(['critical', 'major', 'minor', 'suggestion']),
    category: z.enum(['bug', 'security', 'performance', 'style', 'logic', 'test']),
    file: z.string(),
    line: Count.optional(),
    description: z.string(),
    suggestion: z.string().optional(),
    location: z
      .strictObject({
        file: z.string().optional(),
        line_start: Count.optional(),
        line_end: Count.optional(),
        code_snippet: z.string().optional(),
      })
      .optional(),
    rationale: z.string().optional(),
    fixed_in_iteration: Count.optional(),
    original_category: z.unknown().optional(),
    original_severity: z.unknown().optional(),
  })
  .meta({ id: 'ReviewFinding' })
export type ReviewFinding = z.infer<typeof ReviewFinding>

/** A change the reviewer asks for. */
export const RequiredChange = z
  .strictObject({
    change_id: FileId,
    priority: z.enum(['must_fix', 'should_fix', 'consider']),
    related_findings: z.array(z.string()),
    description: z.string(),
  })
  .meta({ id: 'RequiredChange' })

/** What the reviewer's checks said. */
export const Verification = z
  .strictObject({
    tests_passed: z.boolean(),
    type_check_passed: z.boolean(),
    custom_checks: z.record(z.string(), z.boolean()).optional(),
  })
  .meta({ id: 'Verification' })
export type Verification = z.infer<typeof Verification>

/** What a reviewer gives back. */
export const ReviewerOutput = z
  .strictObject({
    review_id: FileId,
    task_id: FileId,
    verdict: Verdict,
    findings: z.array(ReviewFinding),
    verification: Verification,
    summary: z.string(),
    required_changes: z.array(RequiredChange).optional(),
    commendations: z.array(z.string()).optional(),
    /** What was said of the checks, and which of them did not run. */
    original_verification: z.unknown().optional(),
    original_verdict: z.unknown().optional(),
  })
  .meta({ id: 'ReviewerOutput' })
export type ReviewerOutput = z.infer<typeof ReviewerOutput>
