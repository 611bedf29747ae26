import { AppError } from '../../contract/errors.ts'
import { mustChoose } from '../../contract/question-answers.ts'
import type { OpenApproval } from '../../core/approvals/open-approvals.ts'
import type { Workflows } from '../../workflow/workflows.ts'
import { answerQuestion, type BuiltInDeps, builtInSession, openSession } from './built-in-session.ts'
import { type Decided, type SessionKind, titleOf } from './session-kind.ts'

export type WorkflowDeps = BuiltInDeps & { readonly workflows: Workflows }

/** The session of a crew or a script: a workflow drives it, and the agents that work for it are its runs and children. */
export function workflowSession(deps: WorkflowDeps): SessionKind {
  const { engine, directory, runtime, workflows } = deps
  const builtIn = builtInSession(deps)
  return {
    ...builtIn,
    async complete(row, { by, message }) {
      await workflows.end(openSession(engine, row), { outcome: 'cancelled', by, reason: message })
    },
    async send(row, message) {
      const answered = await answerQuestion(runtime, openSession(engine, row), message)
      if (answered !== undefined) return { messageId: answered, isAnswer: true }
      throw new AppError(
        'conflict',
        'a workflow takes no messages; answer what it asks (sm approvals), or talk to one of its agents (sm children)',
      )
    },
    async interrupt(row) {
      throw new AppError(
        'conflict',
        `${titleOf(row)} is a workflow, which is not interrupted; stop it with: sm workflow cancel ${row.shortId}`,
      )
    },
    async kill(row, { by, reason }) {
      await workflows.end(openSession(engine, row), { outcome: 'killed', by, reason })
      return { killed: [await directory.view(await directory.find(row.sessionId))], left: [], suspects: [] }
    },
    async resume(row) {
      throw new AppError('conflict', `${titleOf(row)} is a workflow; resume it with: sm workflow resume`)
    },
    async adopt(row) {
      throw new AppError(
        'conflict',
        `${titleOf(row)} is a workflow and stays where it was started; only a program in a terminal can be adopted`,
      )
    },
    async attach(row) {
      throw new AppError(
        'conflict',
        `${titleOf(row)} is a workflow and has no terminal; sm workflow show shows it, sm children ${row.shortId} its agents`,
      )
    },
    async decide(state, ask, decided) {
      // A tool or a question is of an agent that works for it.
      if (ask.subject === 'tool' || ask.subject === 'question') return builtIn.decide(state, ask, decided)
      checkAnswers(ask, decided)
      await workflows.decide(state, ask, decided)
    },
  }
}

/** A yes that names none of the choices would be taken for one of them, and a word that is none for another. */
function checkAnswers({ options }: OpenApproval, { decision }: Decided): void {
  if (decision.verdict === 'deny') return
  const answers = Object.values(decision.answers ?? {})
  if (answers.length === 0 && !mustChoose(options)) return
  if (answers.length === 0)
    throw new AppError('invalid', `choose one of: ${options.join(', ')}; give it with: --answer "…"`)
  const other = answers.find((answer) => !options.includes(answer))
  if (other !== undefined)
    throw new AppError('invalid', `${other} is not an answer to this; choose one of: ${options.join(', ')}`)
}
