import { oneLine } from '../render/safe-text.ts'
import { edit, emptyLine, isCharacter, type Line, textOf } from '../tui/line-editor.ts'
import { answered, calmed, openQuestion, pressOnCard, withAsks } from './card.ts'
import { asideLines } from './chat-lines.ts'
import { hear, newRun } from './hear.ts'
import { acted, type ChatInput, type ChatModel, mainRuns, type Step, shown, still } from './model.ts'

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

/** Within so long after the first Ctrl-C another one leaves. */
const leaveMs = 2000

/** What a key does to a chat. */
function press(model: ChatModel, key: string): Step {
  const onCard = model.card && pressOnCard(model, model.card, key)
  if (onCard !== undefined) return onCard
  switch (key) {
    case '<enter>':
      return enter(model)
    case '<a-enter>':
      return typed(model, { before: `${model.line.before}\n`, after: model.line.after })
    case '<esc>':
    case '<c-c>':
      return stop(model, key)
    case '<c-d>':
      return textOf(model.line) === '' ? acted(model, { kind: 'leave' }) : typed(model, edit(model.line, key))
    case '<c-l>':
      return acted(model, { kind: 'redraw' })
    case '<c-z>':
      return acted(model, { kind: 'suspend' })
    case '<up>':
      return recalled(model, -1)
    case '<down>':
      return recalled(model, 1)
    default:
      return typed(model, edit(model.line, key), isCharacter(key))
  }
}

/** Puts a pasted text in; its lines stay lines. */
function paste(model: ChatModel, text: string): Step {
  const { before, after } = model.line
  const clean = text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll('\t', '  ')
    .replaceAll(/[^\P{Cc}\n]/gu, '')
  return typed(model, { before: before + clean, after }, true)
}

function typed(model: ChatModel, line: Line, isText = false): Step {
  const next = { ...model, line, note: undefined }
  return still(isText ? calmed(next) : next)
}

function enter(model: ChatModel): Step {
  const text = textOf(model.line)
  // Where a terminal has no key for it, a backslash says that the text goes on.
  if (text.endsWith('\\') && model.line.after === '')
    return typed(model, { before: `${text.slice(0, -1)}\n`, after: '' })
  return submit(model, text)
}

/** Stops what is done, leaves what is typed, or leaves altogether. */
function stop(model: ChatModel, key: '<esc>' | '<c-c>'): Step {
  if (model.now < model.leaveUntilMs) return acted(model, { kind: 'leave' })
  const leaveUntilMs = model.now + leaveMs
  const leaving = (text: string): ChatModel => ({
    ...model,
    leaveUntilMs,
    note: { tone: 'plain', text, untilMs: leaveUntilMs },
  })
  const runIds = mainRuns(model).map(([runId]) => runId)
  if (runIds.length > 0)
    return acted(leaving(`stopping; press ${nameOf(key)} again to quit`), { kind: 'cancel', runIds })
  if (textOf(model.line) !== '') return typed(model, emptyLine)
  if (key === '<esc>') return still({ ...model, note: undefined })
  return still(leaving('press ctrl-c again to quit'))
}

const nameOf = (key: '<esc>' | '<c-c>'): string => (key === '<esc>' ? 'esc' : 'ctrl-c')

/** Goes through what was said before; what was being typed comes back at its end. */
function recalled(model: ChatModel, by: -1 | 1): Step {
  const { history, at } = model
  const next = Math.min(history.length, Math.max(0, at + by))
  if (next === at) return still(model)
  const draft = at === history.length ? textOf(model.line) : model.draft
  const before = next === history.length ? draft : (history[next] ?? '')
  return still({ ...model, at: next, draft, line: { before, after: '' } })
}

const help = [
  'enter sends; alt-enter or a \\ at the end starts a new line; up and down recall earlier messages',
  'while an agent is working, your message reaches it at its next step',
  'esc or ctrl-c stops the agents, pressed again it quits; ctrl-d quits',
  '@agent message   talk to another main agent; /agents lists them',
  '/mode chat|auto   one tool per turn, or working on its own',
  '/queue   list queued messages; /dismiss N withdraws one',
  '/quit   quit; the session stays open',
]

/** What somebody typed and sent: words, an answer, or a command of the chat itself. */
function submit(model: ChatModel, text: string): Step {
  const said = text.trim()
  const cleared = { ...model, line: emptyLine, draft: '', note: undefined }
  if (said === '') return still(cleared)
  const history = model.history.at(-1) === said ? model.history : [...model.history, said]
  const next = { ...cleared, history, at: history.length }
  const { card } = model
  const question = card && openQuestion(card)
  if (card && question) return answered(next, { card, question }, said)
  const [, command, rest = ''] = /^\/(\S+)\s*(.*)$/s.exec(said) ?? []
  if (command === undefined || command === 'mode') return say(next, said)
  return commanded(next, command, rest.trim())
}

function say(model: ChatModel, text: string): Step {
  const agent = /^@([\w-]+)\s/.exec(text)?.[1]?.toLowerCase() ?? model.agent
  const isBusy = mainRuns(model).some(([, run]) => run.agent === agent)
  const isMode = /^\/mode\b/.test(text)
  const waiting = isMode ? model.waiting : [...model.waiting, { id: undefined, text, agent }]
  return acted({ ...model, waiting }, { kind: 'say', text, delivery: isBusy ? 'important' : 'sequential' })
}

function commanded(model: ChatModel, command: string, rest: string): Step {
  switch (command) {
    case 'help':
    case '?':
      return shown(model, ['', ...help.flatMap((line) => asideLines(model, line))])
    case 'quit':
    case 'exit':
      return acted(model, { kind: 'leave' })
    case 'agents':
      return acted(model, { kind: 'agents' })
    case 'queue':
      return shown(model, ['', ...queueLines(model)])
    case 'dismiss':
      return dismissed(model, Number(rest || Number.NaN))
    default:
      return still(bad(model, `there is no /${command}; /help lists the commands`))
  }
}

const waitingOf = ({ waiting }: ChatModel) => waiting.filter(({ id }) => id !== undefined)

function queueLines(model: ChatModel): string[] {
  const waiting = waitingOf(model)
  if (waiting.length === 0) return asideLines(model, 'Nothing is queued.')
  return waiting.flatMap(({ text, agent }, i) =>
    asideLines(model, `${i + 1}. ${agent === model.agent ? '' : `@${agent} `}${oneLine(text).slice(0, 400)}`),
  )
}

function dismissed(model: ChatModel, number: number): Step {
  const id = waitingOf(model)[number - 1]?.id
  if (id === undefined)
    return still(bad(model, 'say which message to withdraw by its number: /dismiss 1; /queue lists them'))
  return acted(model, { kind: 'dismiss', id })
}

const bad = (model: ChatModel, text: string): ChatModel => ({ ...model, note: { tone: 'bad', text } })
