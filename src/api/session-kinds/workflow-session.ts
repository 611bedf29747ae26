import { AppError } from '../../contract/errors.ts'
import type { Workflows } from '../../workflow/workflows.ts'
import { approvalView } from '../session-views.ts'
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
      await checkAnswers(deps, ask.approvalId, decided)
      await workflows.decide(state, ask, decided)
    },
  }
}

/** A word that is no option would be taken for the first of them. */
async function checkAnswers(
  { directory }: WorkflowDeps,
  approvalId: string,
  { decision }: Decided,
): Promise<void> {
  const answers = Object.values((decision.verdict === 'allow' && decision.answers) || {})
  if (answers.length === 0) return
  await directory.caughtUp()
  const [row] = await directory.ask('approvals', { approvalId, limit: 1 })
  if (!row) throw new AppError('unavailable', 'the index has not caught up with the question yet; try again')
  const { options } = await approvalView(directory, row)
  const other = answers.find((answer) => !options.includes(answer))
  if (other !== undefined)
    throw new AppError('invalid', `${other} is not an answer to this; choose one of: ${options.join(', ')}`)
}
