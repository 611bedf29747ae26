import type { DataCommand } from '../command-module.ts'
import { renderNewAgent } from '../render/agents.ts'

export const agentsNew: DataCommand<'agents new'> = {
  run: async ({ name, kind, from, user }, io) =>
    (await io.offline()).agentsNew(
      { name, kind: isKind(kind) ? kind : undefined, isUser: user, from },
      io.signal,
    ),
  render: renderNewAgent,
}

const isKind = (word: string | undefined): word is 'main' | 'subagent' =>
  word === 'main' || word === 'subagent'
