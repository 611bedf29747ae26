import type { Decision } from '../../contract/decision.ts'
import { AppError } from '../../contract/errors.ts'
import { answerName, anyQuestion, chosenLabels } from '../../contract/question-answers.ts'
import type { AskedQuestion } from '../../contract/signal.ts'
import type { OpenApproval } from './open-approvals.ts'

type Answers = Readonly<Record<string, string>>

/**
 * A decision that says all that was asked: every question has its answer, by its own text. One that leaves something
 * open is refused, with what is missing: the agent would go on waiting, and nobody would know for what.
 */
export function wholeDecision(
  subject: OpenApproval['subject'],
  questions: readonly AskedQuestion[],
  decision: Decision,
): Decision {
  if (decision.verdict === 'deny') return decision
  const { answers = {} } = decision
  if (subject === 'question') return { ...decision, answers: wholeAnswers(questions, answers) }
  if (Object.keys(answers).length > 0)
    throw new AppError(
      'invalid',
      'this is not a question, so it takes no answer; allow or refuse it, and tell the rest with: sm send',
    )
  return decision
}

/** The answer to each question by its text. They may be named by their text, their heading or their number. */
function wholeAnswers(questions: readonly AskedQuestion[], given: Answers): Answers {
  const all = questions.length === 0 ? [{ question: anyQuestion, options: [], isMany: false }] : questions
  const answers = new Map<AskedQuestion, string>()
  for (const [name, answer] of Object.entries(given)) {
    const question = questionNamed(all, name)
    if (answers.has(question))
      throw new AppError('invalid', `"${question.question}" is answered twice; answer it once`)
    if (answer.trim() === '') continue
    if (!question.isMany && (chosenLabels(question, answer)?.length ?? 0) > 1)
      throw new AppError('invalid', `"${question.question}" takes one answer only: ${labelsOf(question)}`)
    answers.set(question, answer)
  }
  const missing = all.filter((question) => !answers.has(question))
  if (missing.length > 0) throw incomplete(all, missing)
  return Object.fromEntries(all.map((question) => [question.question, answers.get(question) ?? '']))
}

function questionNamed(questions: readonly AskedQuestion[], name: string): AskedQuestion {
  const [only, ...others] = questions
  if (name === anyQuestion && only && others.length === 0) return only
  if (name === anyQuestion) throw incomplete(questions, questions)
  const said = plain(name)
  const found =
    questions.find(({ question }) => plain(question) === said) ??
    questions.find(({ header }) => header !== undefined && plain(header) === said) ??
    questions[Number(said) - 1]
  if (found) return found
  const names = questions.map((_, at) => answerName(questions, at)).join(', ')
  throw new AppError('invalid', `it asks nothing that is called "${name}"; answer: ${names}`)
}

const plain = (text: string): string => text.trim().toLowerCase()

function incomplete(all: readonly AskedQuestion[], missing: readonly AskedQuestion[]): AppError {
  const asked = missing.map((question) => {
    const labels = labelsOf(question)
    return labels === '' ? `"${question.question}"` : `"${question.question}" (${labels})`
  })
  const how = all.map((_, at) => `--answer "${answerName(all, at)}=…"`).join(' ')
  const message =
    all.length === 1
      ? `the question has no answer: ${asked.join('')}; give it with: --answer "…"`
      : `${missing.length} of ${all.length} questions ${missing.length === 1 ? 'has' : 'have'} no answer: ${asked.join('; ')}. Answer all of them at once: ${how}`
  return new AppError('invalid', message, { details: { missing: missing.map(({ question }) => question) } })
}

const labelsOf = ({ options, isMany }: AskedQuestion): string => {
  const labels = options.map(({ label }) => label).join(' | ')
  return isMany && labels !== '' ? `${labels}; one or several` : labels
}
