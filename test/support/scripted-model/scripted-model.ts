import { anthropicProtocol } from '../../../src/adapters/models/scripted/anthropic-protocol.ts'
import {
  type ScriptedModel,
  type ScriptedModelOptions,
  startScriptedModel as start,
} from '../../../src/adapters/models/scripted/scripted-model.ts'
import { chatProtocol } from './chat-protocol.ts'
import { geminiProtocol } from './gemini-protocol.ts'
import { responsesProtocol } from './responses-protocol.ts'

/** Every protocol that the agent CLIs speak. */
export const protocols = {
  anthropic: anthropicProtocol,
  responses: responsesProtocol,
  chat: chatProtocol,
  gemini: geminiProtocol,
} as const

/** The scripted model with all of them; the product itself speaks Anthropic's to it. */
export const startScriptedModel = (options: ScriptedModelOptions = {}): Promise<ScriptedModel> =>
  start({ protocols: [geminiProtocol, responsesProtocol, chatProtocol], ...options })
