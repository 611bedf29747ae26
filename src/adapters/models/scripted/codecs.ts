import type { Answer } from './answer.ts'
import type { Conversation } from './conversation.ts'
import { anthropicFrames, anthropicMessage } from './encode-anthropic.ts'
import { chatCompletion, chatFrames } from './encode-chat.ts'
import { geminiFrames, geminiResponse } from './encode-gemini.ts'
import { responsesBody, responsesFrames } from './encode-responses.ts'
import type { Frame, Protocol } from './protocol.ts'
import { readAnthropic } from './read-anthropic.ts'
import { readChat } from './read-chat.ts'
import { readGemini } from './read-gemini.ts'
import { readResponses } from './read-responses.ts'

/** How a protocol is read and written. */
export type Codec = {
  read(body: unknown, path: { model: string; isStream: boolean }): Conversation
  /** The whole answer in one body. */
  body(answer: Answer): object
  frames(answer: Answer): Frame[]
  /** The id by which the client knows the response. */
  responseId(answer: Answer): string
}

export const codecs: Readonly<Record<Protocol, Codec>> = {
  anthropic: {
    read: readAnthropic,
    body: anthropicMessage,
    frames: anthropicFrames,
    responseId: (answer) => anthropicMessage(answer).id,
  },
  responses: {
    read: readResponses,
    body: responsesBody,
    frames: responsesFrames,
    responseId: (answer) => responsesBody(answer).id,
  },
  chat: {
    read: readChat,
    body: chatCompletion,
    frames: chatFrames,
    responseId: (answer) => chatCompletion(answer).id,
  },
  gemini: {
    read: readGemini,
    body: geminiResponse,
    frames: geminiFrames,
    responseId: (answer) => geminiResponse(answer).responseId,
  },
}
