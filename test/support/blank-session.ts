import { SessionView } from '../../src/contract/session-views.ts'

/** What a session has to have; the rest may be null, none, 0 or no. */
type Said = Pick<
  SessionView,
  'session_id' | 'id' | 'name' | 'status' | 'health' | 'is_alive' | 'created_at' | 'last_activity_at'
>

/** A session of which nothing is known but this. A field that is new to sessions needs no line here. */
export const sessionWith = (said: Said & Partial<SessionView>): SessionView => ({ ...blank, ...said })

const blank = Object.fromEntries(
  Object.entries(SessionView.shape).map(([name, schema]) => [
    name,
    [null, 0, [], false].find((empty) => schema.safeParse(empty).success),
  ]),
) as unknown as Omit<SessionView, keyof Said>
