import type { Client } from '../../src/client/client.ts'
import { longId } from './session-data.ts'

/** The environment of a program that runs in a session. */
export const inside = { MUSTER_SESSION: longId('abc123'), MUSTER_TOKEN: 'mst_x' }

export type Asked = { route: string; input: Record<string, unknown> }

/** A client that notes what it was asked and answers as told, from its last answer on the same again. */
export function recorder(answers: Record<string, unknown[]>) {
  const asked: Asked[] = []
  const client = Object.fromEntries(
    Object.entries(answers).map(([route, given]) => [
      route,
      async (input: Record<string, unknown>) => {
        asked.push({ route, input })
        const answer = given.length > 1 ? given.shift() : given[0]
        if (answer instanceof Error) throw answer
        return answer
      },
    ]),
  ) as Partial<Client>
  return { client, asked }
}
