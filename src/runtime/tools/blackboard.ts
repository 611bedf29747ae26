import * as z from 'zod'
import { AppError } from '../../contract/errors.ts'
import type { AgentEvent } from '../../contract/event.ts'
import { BoardItemType } from '../../contract/events/agent.ts'
import {
  type BoardItem,
  boardItems,
  currentVersion,
  lastVersion,
} from '../../core/session/blackboard-items.ts'
import { draftOf } from '../../engine/sessions/drafts.ts'
import type { Tool } from '../../ports/tools.ts'
import type { Recorder } from '../recorder.ts'
import { runtimeTool, said, type ToolRun, wrong } from './runtime-tool.ts'

const BoardCall = z.strictObject({
  operation: z.enum(['list', 'get', 'put']),
  id: z.string().min(1).max(200).optional(),
  type: BoardItemType.optional(),
  content: z.unknown().optional(),
  confidence: z.number().min(0).max(1).optional(),
  ttl_seconds: z.number().positive().optional(),
  version: z.int().positive().optional(),
})

/** What is shared by all agents of a session. */
export const blackboardTool = ({ parts, run }: ToolRun, recorder: Recorder): Tool =>
  runtimeTool({
    name: 'Blackboard',
    description:
      'Facts, decisions and open questions that all agents of this session share. `put` with a new id adds an item; with a known id it needs the version you have seen, so that nobody overwrites what another has written in the meantime. A change keeps type and confidence unless you name them, and lives as long as its own ttl_seconds says, or forever.',
    category: 'task_management',
    input: BoardCall,
    async run({ operation, id, ...given }) {
      const { engine, clock } = parts
      const { sessionId } = run.root
      await recorder.durable()
      const items = async (): Promise<BoardItem[]> => {
        const events: AgentEvent[] = []
        const types = ['blackboard.item.created', 'blackboard.item.updated'] as const
        for await (const event of parts.events(sessionId, types)) events.push(event)
        return boardItems(events, clock.now())
      }
      if (operation === 'list') {
        const all = await items()
        return said(all.length === 0 ? 'The blackboard is empty.' : all.map(line).join('\n'))
      }
      if (id === undefined) return wrong(`${operation} needs an id`)
      if (operation === 'get') {
        const found = (await items()).find((item) => item.id === id)
        return found ? said(JSON.stringify(found, null, 2)) : wrong(`there is no item ${id}`)
      }
      const { type, content = null, confidence, ttl_seconds, version } = given
      const standing = () => currentVersion(engine.session(sessionId)?.board, id, clock.now())
      const next = (version ?? lastVersion(engine.session(sessionId)?.board, id)) + 1
      const item = {
        itemId: id,
        content,
        sourceAgent: run.agentId,
        version: next,
        ...(confidence !== undefined && { confidence }),
        ...(ttl_seconds !== undefined && { ttlMs: ttl_seconds * 1000 }),
      }
      const stale = (now: number) => `${id} is now at version ${now}; get it, and put it with that version`
      try {
        await engine.perform(
          [
            version === undefined
              ? draftOf(run.root, 'blackboard.item.created', { ...item, itemType: type ?? 'fact' })
              : draftOf(run.root, 'blackboard.item.updated', { ...item, ...(type && { itemType: type }) }),
          ],
          () => {
            const now = standing()
            if (now !== version)
              throw new AppError('conflict', now === undefined ? `there is no item ${id}` : stale(now))
          },
        )
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'conflict') throw error
        const now = standing()
        if (now !== undefined)
          recorder.record([
            draftOf(run.root, 'blackboard.item.updated', {
              itemId: id,
              content,
              sourceAgent: run.agentId,
              version: now,
              conflict: true,
            }),
          ])
        return wrong(error.message)
      }
      return said(`${id} is at version ${next}.`)
    },
  })

const line = ({ id, type, version, source, content }: BoardItem): string =>
  `${id} (${type}, version ${version}, by ${source}): ${JSON.stringify(content).slice(0, 300)}`
