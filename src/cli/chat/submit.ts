import { oneLine } from '../render/safe-text.ts'
import { emptyLine } from '../watch/line-editor.ts'
import { answered, openQuestion } from './card.ts'
import { asideLines } from './ink-lines.ts'
import { acted, type ChatModel, mainRuns, type Step, shown, still } from './model.ts'

const help = [
  'enter sends, alt-enter or a \\ at the end goes to a new line, up and down bring back what you said',
  'while an agent works, what you say reaches it at its next step',
  'esc or ctrl-c stops what the agents do; once more leaves; ctrl-d leaves',
  '@agent words   speak with another main agent; /agents lists them',
  '/mode chat|auto   one tool per turn, or on its own',
  '/queue   what waits to be taken up; /dismiss N takes one back',
  '/quit   leave; the session stays',
]

/** What somebody typed and sent: words, an answer, or a command of the chat itself. */
export function submit(model: ChatModel, text: string): Step {
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
      return still(bad(model, `there is no /${command}; /help lists what there is`))
  }
}

const waitingOf = ({ waiting }: ChatModel) => waiting.filter(({ id }) => id !== undefined)

function queueLines(model: ChatModel): string[] {
  const waiting = waitingOf(model)
  if (waiting.length === 0) return asideLines(model, 'Nothing waits.')
  return waiting.flatMap(({ text, agent }, i) =>
    asideLines(model, `${i + 1}. ${agent === model.agent ? '' : `@${agent} `}${oneLine(text).slice(0, 400)}`),
  )
}

function dismissed(model: ChatModel, number: number): Step {
  const id = waitingOf(model)[number - 1]?.id
  if (id === undefined)
    return still(bad(model, 'name what to take back by its number: /dismiss 1; /queue lists what waits'))
  return acted(model, { kind: 'dismiss', id })
}

const bad = (model: ChatModel, text: string): ChatModel => ({ ...model, note: { tone: 'bad', text } })
