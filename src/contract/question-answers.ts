import type { AskedQuestion } from './signal.ts'

/** The name under which words are given that answer the only question there is. */
export const anyQuestion = '*'

/** So long an answer waits for what was asked before the daemon began to be asked again; a busy program is slow. */
export const askedAgainMs = 60_000

/** So long a caller waits for the answer to an answer. */
export const answeringMs = askedAgainMs + 30_000

/** What an answer of several choices has between them. */
const between = ', '

/** The options of a question that wants only a yes or no; others are choices of their own, of which one must be named. */
const plainOptions: ReadonlySet<string> = new Set(['approve', 'reject', 'once', 'session', 'always', 'deny'])

/** Whether one of the options has to be chosen by its name: a yes alone would say nothing, or the most expensive. */
export const mustChoose = (options: readonly string[]): boolean =>
  options.some((option) => !plainOptions.has(option))

/** One answer of several choices. */
export const joinedAnswer = (labels: readonly string[]): string => labels.join(between)

/** What a question is called in an answer: its heading, or its number where that could be mistaken. */
export function answerName(questions: readonly Pick<AskedQuestion, 'header'>[], at: number): string {
  const header = questions[at]?.header?.trim()
  const isClear =
    header !== undefined &&
    header !== '' &&
    !header.includes('=') &&
    questions.every((other, i) => i === at || plain(other.header ?? '') !== plain(header))
  return isClear ? header : String(at + 1)
}

/** The choices that an answer names, in its order; nothing when it has words that are no choice. */
export function chosenLabels(
  { options }: Pick<AskedQuestion, 'options'>,
  answer: string,
): readonly string[] | undefined {
  const labels = options.map(({ label }) => label).toSorted((a, b) => b.length - a.length)
  const chosen: string[] = []
  for (let rest = answer.trim(); rest !== ''; ) {
    const next = labels.find(
      (label) => plain(rest) === plain(label) || startsWith(rest, `${label}${between}`),
    )
    if (next === undefined) return undefined
    chosen.push(next)
    rest = rest.slice(next.length + between.length).trimStart()
  }
  return chosen
}

const startsWith = (text: string, start: string): boolean =>
  text.toLowerCase().startsWith(start.toLowerCase())

const plain = (text: string): string => text.trim().toLowerCase()
