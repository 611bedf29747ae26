import { pluginClient } from '../system/plugin-client.ts'

/**
 * The plugin that OpenCode loads, as JavaScript text. A tool is let through by an explicit yes only: no answer, a
 * wrong one and a daemon that is gone all stop it.
 */
export const openCodePlugin = (
  url: string,
  isGated: boolean,
): string => `// Written by Muster for one session and removed with it.
${pluginClient(url)}
const isGated = ${JSON.stringify(isGated)}
const dayMs = 86_400_000

export const Muster = async ({ client, directory }) => {
  const children = new Set()
  const words = new Map()
  const busy = new Set()
  const turns = new Set()
  const compacts = new Map()
  const asked = new Map()
  let begun = 0
  const of = (id) => (children.has(id) ? { session: id, agent: id } : { session: id })

  tell({ event: 'init', directory })

  const told = {
    'session.created': ({ info }) => {
      if (info.parentID) children.add(info.id)
      else begun += 1
      return { info, isFirst: begun === 1 }
    },
    'session.status': ({ sessionID, status }) => {
      if (status?.type === 'idle') {
        busy.delete(sessionID)
        turns.delete(sessionID)
      } else busy.add(sessionID)
      return status?.type === 'retry' ? { status } : undefined
    },
    'session.idle': ({ sessionID }) => ({ text: words.get(sessionID) }),
    'session.error': ({ error }) => ({ error }),
    'session.compacted': ({ sessionID }) => ({ trigger: compacts.get(sessionID) }),
    'message.updated': ({ info }) => (info?.role === 'assistant' && info.time?.completed ? { info } : undefined),
    'message.part.updated': ({ sessionID, part }) => {
      if (part?.type === 'text' && part.time?.end && part.text) {
        words.set(sessionID, part.text)
        return { part }
      }
      const isDone = part?.type === 'tool' && ['completed', 'error'].includes(part.state?.status)
      return isDone ? { part } : undefined
    },
  }

  const places = { 'permission.asked': 'permission', 'question.asked': 'question' }

  /** Holds a question at the daemon until it is answered there or here, and asks again when the daemon was away. */
  async function hold(place, event, properties) {
    const cut = new AbortController()
    asked.set(properties.id, cut)
    while (!cut.signal.aborted) {
      const answer = await ask({ event, ...of(properties.sessionID), ...properties }, dayMs, cut.signal).catch(
        (error) => (error.refused ? {} : undefined),
      )
      if (answer === undefined) {
        await pause(3000)
        continue
      }
      asked.delete(properties.id)
      if (answer.path === 'reply' || answer.path === 'reject') await reply(place, properties.id, answer)
      return
    }
  }

  const reply = (place, requestID, { path, body }) =>
    client._client
      .post({
        url: '/' + place + '/{requestID}/' + path,
        path: { requestID },
        body: body ?? {},
        headers: { 'content-type': 'application/json' },
      })
      .catch(() => {})

  return {
    event: async ({ event: { type, properties = {} } }) => {
      const place = places[type]
      if (place) return void hold(place, type, properties)
      if (/^(permission|question)\\.(replied|rejected)$/.test(type)) {
        asked.get(properties.requestID)?.abort()
        asked.delete(properties.requestID)
      }
      const more = told[type]?.(properties)
      if (more) tell({ event: type, ...of(properties.sessionID ?? properties.info?.id), ...more })
    },
    'chat.message': async ({ sessionID }, { message, parts }) => {
      words.delete(sessionID)
      turns.add(sessionID)
      const text = parts.flatMap((part) => (part.type === 'text' && !part.synthetic ? [part.text] : [])).join('\\n')
      tell({ event: 'chat.message', ...of(sessionID), id: message?.id, text, isQueued: busy.has(sessionID) })
    },
    // Without a turn it is one that a person asked for.
    'experimental.session.compacting': async ({ sessionID }) => {
      compacts.set(sessionID, turns.has(sessionID) ? 'auto' : 'manual')
      tell({ event: 'session.compacting', ...of(sessionID), trigger: compacts.get(sessionID) })
    },
    'tool.execute.before': async ({ tool, sessionID, callID }, { args }) => {
      const call = { event: 'tool.before', ...of(sessionID), tool, callID, args }
      if (!isGated) return tell(call)
      const answer = await ask(call, 30_000).catch(() => ({}))
      if (answer.allow === true) return
      throw new Error(answer.reason || 'Muster did not answer, so this tool was not run. You may try again.')
    },
    'tool.execute.after': async ({ tool, sessionID, callID }, output) => {
      const answer = await ask({ event: 'tool.after', ...of(sessionID), tool, callID }, 1000).catch(() => ({}))
      if (typeof answer.append === 'string' && typeof output?.output === 'string') output.output += '\\n\\n' + answer.append
    },
  }
}
`
