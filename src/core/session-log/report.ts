import {
  type Issue,
  type IssueCode,
  issueCodes,
  type ValidationResult,
} from '../../contract/formats/std-008/issue.ts'
import { pointer } from './json/pointer.ts'

type Path = readonly PropertyKey[]
/** Says that something is wrong at a path. */
export type Report = (code: IssueCode, path: Path, message: string) => void

/** Collects what the checks report. */
export function collectIssues(): { report: Report; issues: Issue[] } {
  const issues: Issue[] = []
  const report: Report = (code, path, message) => {
    issues.push({ path: pointer(path), code, message, severity: issueCodes[code].severity })
  }
  return { report, issues }
}

export function validationOf(issues: readonly Issue[]): ValidationResult {
  const errors = issues.filter((issue) => issue.severity === 'error')
  const warnings = issues.filter((issue) => issue.severity === 'warning')
  return { valid: errors.length === 0, errors, warnings }
}
