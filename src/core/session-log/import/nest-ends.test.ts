import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../test/support/size.ts'
import { agentSessions, multiAgentSessions } from '../../../../test/support/std-008-arbitraries.ts'
import { catalogue } from '../../../contract/event.ts'
import { tryWhole } from '../../session/trial.ts'
import { derivedIds } from '../derived-ids.ts'
import { eventsFromSession } from './events-from-session.ts'

test('[MUS-161][MUS-13] the journal takes every event of every valid session file', () => {
  fc.assert(
    fc.property(fc.oneof(multiAgentSessions, agentSessions), (session) => {
      const drafts = eventsFromSession(session, derivedIds('seed', 0))
      expect(() => tryWhole(drafts)).not.toThrow()
      for (const draft of drafts)
        expect(catalogue[draft.type].payload.safeParse(draft.payload).success, draft.type).toBe(true)
    }),
    runs(150),
  )
})
