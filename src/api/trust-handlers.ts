import type { Api } from '../contract/routes.ts'
import type { Engine } from '../engine/engine.ts'
import type { TrustedProjects } from '../engine/project-trust.ts'
import { askerOf } from './who-may.ts'

/** What stands behind the routes of trusted projects. */
export const trustHandlers = ({
  engine,
  trusted,
}: {
  readonly engine: Engine
  readonly trusted: TrustedProjects
}): Pick<Api, 'listTrust' | 'trustProject' | 'endTrust'> => ({
  listTrust: async ({ path }, { signal }) => ({ projects: await trusted.list(path, signal) }),
  trustProject: (asked, { principal, signal }) => trusted.trust(asked, askerOf(engine, principal), signal),
  endTrust: ({ path }, { principal, signal }) => trusted.end(path, askerOf(engine, principal), signal),
})
