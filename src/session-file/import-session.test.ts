import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../test/support/size.ts'
import { agentSessions, multiAgentSessions } from '../../test/support/std-008-arbitraries.ts'
import { derivedIds } from '../contract/derived-ids.ts'
import { catalogue } from '../contract/event.ts'
import { tryWholeSession } from '../core/session/decide.ts'
import { eventsFromSession } from './import-session.ts'

test('[MUS-161][MUS-13] the journal takes every event of every valid session file', () => {
  fc.assert(
    fc.property(fc.oneof(multiAgentSessions, agentSessions), (session) => {
      const drafts = eventsFromSession(session, derivedIds('seed', 0))
      expect(() => tryWholeSession(drafts)).not.toThrow()
      for (const draft of drafts)
        expect(catalogue[draft.type].payload.safeParse(draft.payload).success, draft.type).toBe(true)
    }),
    runs(150),
  )
})
