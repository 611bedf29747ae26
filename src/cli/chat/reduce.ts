import { withAsks } from './card.ts'
import { hear, newRun } from './hear.ts'
import { asideLines } from './ink-lines.ts'
import { type ChatInput, type ChatModel, type Step, shown, still } from './model.ts'
import { paste, press } from './press.ts'

const noteMs = 4000

/** What becomes of a chat when something happens. */
export function reduce(model: ChatModel, input: ChatInput): Step {
  switch (input.kind) {
    case 'key':
      return press(model, input.key)
    case 'paste':
      return paste(model, input.text)
    case 'heard':
      return hear(model, input.heard)
    case 'joined':
      return still({ ...model, session: input.session, agent: input.agent })
    case 'running':
      return still({
        ...model,
        runs: new Map(
          input.runs.map(({ runId, agent, isBelow }) => [
            runId,
            model.runs.get(runId) ?? { ...newRun(model, agent, isBelow), isTurnOver: false },
          ]),
        ),
      })
    case 'sent':
      return still(sent(model, input))
    case 'unsent':
      return still(unsent(model, input))
    case 'mode':
      return shown({ ...model, mode: input.mode }, asideLines(model, `mode ${input.mode}`))
    case 'asks':
      return still(withAsks(model, input.asks))
    case 'lines':
      return shown(model, input.lines)
    case 'note':
      return still({ ...model, note: { untilMs: model.now + noteMs, ...input.note } })
    case 'offline':
      return still(model.offline === input.why ? model : { ...model, offline: input.why })
    case 'resize':
      return still({ ...model, size: input.size })
    case 'tick':
      return still({ ...model, note: isOver(model) ? undefined : model.note })
  }
}

/** A message has its id; when the stream was faster, it is known under it already. */
function sent(model: ChatModel, { text, id }: { readonly text: string; readonly id: string }): ChatModel {
  if (model.waiting.some((one) => one.id === id)) return model
  const first = model.waiting.findIndex((one) => one.id === undefined && one.text === text)
  return { ...model, waiting: model.waiting.map((one, i) => (i === first ? { ...one, id } : one)) }
}

/** Words that could not be sent come back into the line, unless another is being typed. */
function unsent(model: ChatModel, { text, why }: { readonly text: string; readonly why: string }): ChatModel {
  const waiting = model.waiting.filter((one) => !(one.id === undefined && one.text === text))
  const isFree = model.line.before + model.line.after === ''
  return {
    ...model,
    waiting,
    note: { tone: 'bad', text: why },
    ...(isFree && { line: { before: text, after: '' } }),
  }
}

const isOver = ({ note, now }: ChatModel): boolean => (note?.untilMs ?? Number.POSITIVE_INFINITY) <= now
