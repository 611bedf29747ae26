import * as z from 'zod'
import { Priority } from '../values.ts'

/** The name of a task: part of branch names, so it begins with a letter or digit. */
export const TaskSlug = z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/, {
  error: 'must be a short name of lower-case letters, digits and dashes, at most 40',
})

/** What a task waits for: a hard dependency until it is complete, a soft one until it has begun. */
export const TaskDependency = z.object({
  task_id: z.string(),
  type: z.enum(['hard', 'soft']).default('hard'),
})
export type TaskDependency = z.infer<typeof TaskDependency>

/** A dependency as a plan writes it; a bare name is a hard one. */
const WrittenDependency = z.union([
  z.string().transform((task_id): TaskDependency => ({ task_id, type: 'hard' })),
  TaskDependency,
])

/** A file worth reading, by its path or with the reason. */
const FileToRead = z.union([
  z.string().min(1),
  z.object({
    path: z.string().min(1),
    reason: z.string().optional(),
    sections: z.array(z.string()).optional(),
  }),
])

/** One piece of work that a developer can finish without asking back. */
export const PlanTask = z.object({
  task_id: TaskSlug,
  title: z.string().min(1).max(200),
  description: z.string().min(1),
  /** Globs, relative to the project, of what may change. */
  scope: z.array(z.string().min(1)).min(1),
  depends_on: z.array(WrittenDependency).default([]),
  acceptance_criteria: z.array(z.string()),
  priority: Priority.default('medium'),
  testing_required: z.boolean().default(true),
  reference_files: z.array(FileToRead).optional(),
  specs: z.array(FileToRead).optional(),
})
export type PlanTask = z.infer<typeof PlanTask>

/** The commands that show whether the work is good; Muster runs them itself. */
export const PlanChecks = z.object({
  test: z.string().min(1).optional(),
  type_check: z.string().min(1).optional(),
  custom: z.array(z.object({ name: z.string().min(1), command: z.string().min(1) })).optional(),
})
export type PlanChecks = z.infer<typeof PlanChecks>

/** What an architect answers a request with. Fields it adds are left out: they bind nobody. */
export const Plan = z.object({
  summary: z.string().min(1),
  tasks: z.array(PlanTask).min(1),
  checks: PlanChecks.optional(),
  notes: z.string().optional(),
})
export type Plan = z.infer<typeof Plan>
