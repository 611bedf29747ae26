import * as z from 'zod'
import { runtimeRoutes } from '../runtime-routes.ts'
import { sessionRoutes } from '../session-routes.ts'
import { SessionDetail, SessionView, SpawnedView } from '../session-views.ts'

const { output: Sessions } = sessionRoutes.listSessions
const Others = z.strictObject({ sessions: z.array(SessionView) })

/** What the commands of managed sessions print with `--json`. */
export const sessionOutputs = {
  /** With `--wait` a second value follows: the session as it ended. */
  spawn: z.union([SpawnedView, SessionDetail]),
  send: sessionRoutes.sendMessage.output,
  messages: sessionRoutes.listMessages.output,
  'messages dismiss': runtimeRoutes.dismissMessage.output,
  interrupt: sessionRoutes.interruptSession.output,
  kill: sessionRoutes.killSession.output,
  budget: sessionRoutes.updateSession.output,
  approvals: sessionRoutes.listApprovals.output,
  approve: sessionRoutes.decideApproval.output,
  reject: sessionRoutes.decideApproval.output,
  attach: sessionRoutes.getAttach.output,
  wait: SessionDetail,
  resume: sessionRoutes.resumeSession.output,
  restore: sessionRoutes.restoreSessions.output,
  adopt: sessionRoutes.adoptSession.output,
  all: Sessions,
  status: z.strictObject({
    session: SessionView.nullable(),
    children: z.array(SessionView),
    working_dir: z.string(),
    others: z.array(SessionView),
  }),
  children: sessionRoutes.listChildren.output,
  progress: sessionRoutes.getProgress.output,
  checkpoints: sessionRoutes.listCheckpoints.output,
  events: sessionRoutes.listSessionEvents.output.shape.events.element,
  tail: sessionRoutes.getTranscript.output,
  output: sessionRoutes.getOutput.output,
  blackboard: runtimeRoutes.getBlackboard.output,
  what: sessionRoutes.getSummary.output,
  explain: sessionRoutes.explainSession.output,
  ps: sessionRoutes.listProcesses.output,
  me: sessionRoutes.whoAmI.output,
  who: Others,
  others: Others,
  alone: z.strictObject({ alone: z.boolean() }),
  checkpoint: sessionRoutes.addCheckpoint.output,
  'checkpoint diff': sessionRoutes.diffCheckpoints.output,
  complete: sessionRoutes.completeSession.output,
  name: sessionRoutes.updateSession.output,
  task: sessionRoutes.updateSession.output,
  lock: sessionRoutes.updateSession.output,
  unlock: sessionRoutes.updateSession.output,
} as const
