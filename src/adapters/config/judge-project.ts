import { flattenConfig } from '../../contract/config/flatten-config.ts'
import { projectMaySet } from '../../contract/config/project-trust.ts'
import type { Config } from '../../contract/config.ts'
import type { NamedLayer } from './merge-layers.ts'

/** The part of a project file that applies, and the part that waits for trust. */
export type JudgedProject = {
  readonly layer: NamedLayer
  readonly ignored: readonly string[]
  readonly warnings: readonly string[]
}

/** Holds back what an untrusted project file may not decide over the configuration below it. */
export function judgeProject(project: NamedLayer, below: Config): JudgedProject {
  const current = new Map(flattenConfig(below).map(({ key, value }) => [key, value]))
  const allowed = project.values.filter(({ key, value }) => projectMaySet(key, value, current.get(key)))
  const held = project.values.filter((value) => !allowed.includes(value))
  const list = held.map(({ key, line }) => `${key} (line ${line})`).join(', ')
  return {
    layer: { file: project.file, values: allowed },
    ignored: held.map(({ key }) => key),
    warnings:
      held.length === 0
        ? []
        : [
            `${project.file} is not trusted, so it may not set ${list}; put what you want of it into your own settings`,
          ],
  }
}
