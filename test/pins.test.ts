import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commandEntries } from '../src/contract/cli.ts'
import { errorCodes } from '../src/contract/errors.ts'
import { eventTypes, schemaVersion } from '../src/contract/event.ts'
import { sseTypes } from '../src/contract/event-definition.ts'
import { environmentNames, homeFiles } from '../src/contract/home.ts'
import { routeEntries } from '../src/contract/routes.ts'
import { wireVersion, wireVersions } from '../src/contract/version.ts'
import { homeFiles as daemonFiles } from '../src/daemon/home.ts'

// What others rely on, written out by hand: a change here is a change of the contract, and belongs in the CHANGELOG.

const events = [
  'session.started',
  'session.launched',
  'session.updated',
  'session.archived',
  'limit.refused',
  'session.completed',
  'session.failed',
  'session.reopened',
  'session.state.changed',
  'session.annotated',
  'signal.changed',
  'progress.checkpoint',
  'result.summary',
  'context.compacted',
  'settings.updated',
  'queue.updated',
  'agent.spawned',
  'agent.completed',
  'agent.failed',
  'agent.cancelled',
  'agent.killed',
  'agent.abandoned',
  'agent.idle',
  'agent.waiting',
  'agent.status.changed',
  'agent.task.assigned',
  'task.completed',
  'task.failed',
  'task.cancelled',
  'handoff.requested',
  'handoff.accepted',
  'handoff.rejected',
  'handoff.loop_detected',
  'plan.created',
  'decision.made',
  'retry.scheduled',
  'blackboard.item.created',
  'blackboard.item.updated',
  'tool.call.started',
  'tool.call.completed',
  'tool.call.failed',
  'tool.call.denied',
  'llm.request.started',
  'llm.request.completed',
  'llm.request.failed',
  'llm.usage.corrected',
  'patch.created',
  'test.passed',
  'test.failed',
  'budget.warning',
  'budget.exceeded',
  'agent.message.created',
  'message.queued',
  'message.delivered',
  'message.accepted',
  'message.failed',
  'approval.requested',
  'approval.granted',
  'approval.rejected',
  'approval.expired',
  'effect.intended',
  'effect.done',
  'effect.unknown',
  'workflow.created',
  'workflow.approved',
  'workflow.started',
  'workflow.finalized',
  'workflow.failed',
  'workflow.cancelled',
  'workflow.phase.started',
  'workflow.phase.completed',
  'workflow.phase.failed',
  'workflow.node.enter',
  'workflow.node.exit',
  'workflow.checkpoint.saved',
  'workflow.signalled',
  'workflow.checkpoint.resumed',
  'loop.round.started',
  'loop.round.completed',
  'claim.verified',
  'verifier.issue.found',
  'redaction.applied',
  'journal.recovered',
  'journal.pruned',
  'journal.erased',
  'event.parked',
]

const errors = {
  failed: ['HTTP 500', 'exit 1'],
  internal: ['HTTP 500', 'exit 1'],
  invalid: ['HTTP 400', 'exit 2'],
  method_not_allowed: ['HTTP 405', 'exit 2'],
  too_large: ['HTTP 413', 'exit 2'],
  unsupported_media: ['HTTP 415', 'exit 2'],
  not_found: ['HTTP 404', 'exit 3'],
  conflict: ['HTTP 409', 'exit 4'],
  timeout: ['HTTP 504', 'exit 4'],
  limited: ['HTTP 429', 'exit 4'],
  unauthenticated: ['HTTP 401', 'exit 5'],
  denied: ['HTTP 403', 'exit 5'],
  misdirected: ['HTTP 421', 'exit 5'],
  unavailable: ['HTTP 503', 'exit 6'],
}

const routes = [
  'health: GET /api/v1/health, read, json',
  'doctor: GET /api/v1/doctor, read, json',
  'listEvents: GET /api/v1/events, read, json',
  'appendEvents: POST /api/v1/events, report, json',
  'streamEvents: GET /api/v1/events/stream, read, sse',
  'streamRuntime: GET /api/events, read, sse',
  'spawnSession: POST /api/v1/sessions, report, json',
  'listSessions: GET /api/v1/sessions, read, json',
  'getSession: GET /api/v1/sessions/{id}, read, json',
  'updateSession: POST /api/v1/sessions/{id}, report, json',
  'listChildren: GET /api/v1/sessions/{id}/children, read, json',
  'getProgress: GET /api/v1/sessions/{id}/progress, read, json',
  'getMetrics: GET /api/v1/sessions/{id}/metrics, read, json',
  'listCheckpoints: GET /api/v1/sessions/{id}/checkpoints, read, json',
  'addCheckpoint: POST /api/v1/sessions/{id}/checkpoints, report, json',
  'diffCheckpoints: GET /api/v1/sessions/{id}/checkpoints/diff, report, json',
  'completeSession: POST /api/v1/sessions/{id}/complete, report, json',
  'listSessionEvents: GET /api/v1/sessions/{id}/events, read, json',
  'sendMessage: POST /api/v1/sessions/{id}/messages, report, json',
  'listMessages: GET /api/v1/sessions/{id}/messages, report, json',
  'getMessage: GET /api/v1/messages/{message}, report, json',
  'interruptSession: POST /api/v1/sessions/{id}/interrupt, report, json',
  'listUnsaved: GET /api/v1/sessions/{id}/unsaved, report, json',
  'killSession: POST /api/v1/sessions/{id}/kill, report, json',
  'resumeSession: POST /api/v1/sessions/{id}/resume, report, json',
  'adoptSession: POST /api/v1/sessions/{id}/adopt, report, json',
  'explainSession: GET /api/v1/sessions/{id}/explain, report, json',
  'getOutput: GET /api/v1/sessions/{id}/output, report, json',
  'getTranscript: GET /api/v1/sessions/{id}/transcript, report, json',
  'getAttach: GET /api/v1/sessions/{id}/attach, report, json',
  'getSummary: GET /api/v1/sessions/{id}/summary, read, json',
  'listApprovals: GET /api/v1/approvals, read, json',
  'decideApproval: POST /api/v1/approvals/{id}, report, json',
  'listProcesses: GET /api/v1/processes, read, json',
  'restoreSessions: POST /api/v1/restore, operate, json',
  'checkSessions: POST /api/v1/doctor/sessions, operate, json',
  'whoAmI: GET /api/v1/me, report, json',
  'runHook: POST /api/v1/hooks/{cli}/command, report, json',
  'receiveHook: POST /api/v1/hooks/{cli}, report, json',
  'listAgentRuns: GET /api/agent-runs, read, json',
  'listAgentChildren: GET /api/agent-children, read, json',
  'getAgentContext: GET /api/agent-context, report, json',
  'cancelAgent: POST /api/agent-cancel, report, json',
  'replayRun: POST /api/v1/runs/{id}/replay, operate, json',
  'chat: POST /api/chat, report, json',
  'getSettings: GET /api/settings, read, json',
  'setSettings: POST /api/settings, operate, json',
  'getWorkspaceTree: GET /api/workspace/tree, read, json',
  'dismissMessage: POST /api/v1/messages/{message}/dismiss, report, json',
  'getBlackboard: GET /api/v1/sessions/{id}/blackboard, read, json',
  'listRuns: GET /api/v1/sessions/{id}/runs, read, json',
  'listSpans: GET /api/v1/sessions/{id}/spans, read, json',
  'search: GET /api/v1/search, read, json',
  'exportLog: GET /api/v1/sessions/{id}/log, read, json',
  'importLog: POST /api/v1/log, operate, json',
  'listAgents: GET /api/v1/agents, read, json',
  'getAgent: GET /api/v1/agents/{name}, read, json',
  'listCrews: GET /api/v1/crews, read, json',
  'getCrew: GET /api/v1/crews/{name}, read, json',
  'startCrew: POST /api/v1/workflows/crew, report, json',
  'startScript: POST /api/v1/workflows/script, report, json',
  'listWorkflows: GET /api/v1/workflows, read, json',
  'getWorkflow: GET /api/v1/workflows/{id}, read, json',
  'cancelWorkflow: POST /api/v1/workflows/{id}/cancel, report, json',
  'resumeWorkflow: POST /api/v1/workflows/{id}/resume, report, json',
  'forkWorkflow: POST /api/v1/workflows/{id}/fork, report, json',
  'listModels: GET /api/models, read, json',
  'listAgentTypes: GET /api/agents, read, json',
  'getConfig: GET /api/v1/config, read, json',
  'journalStats: GET /api/v1/journal, read, json',
  'rebuildIndex: POST /api/v1/journal/rebuild-index, operate, json',
  'createLoginLink: POST /api/v1/login-links, operate, json',
  'shutdown: POST /api/v1/shutdown, operate, json',
  'openapi: GET /api/v1/openapi.json, read, json',
]

const streamNames = [
  'StateUpdated',
  'Message',
  'SubagentSpawned',
  'SubagentResult',
  'AgentStatus',
  'SettingsUpdated',
  'QueueUpdated',
  'Token',
  'Outcome',
]

const commands = [
  'ask',
  'chat',
  'demo',
  'crew',
  'workflow list',
  'workflow show',
  'workflow cancel',
  'workflow run',
  'workflow resume',
  'workflow fork',
  'spawn',
  'send',
  'messages',
  'messages dismiss',
  'interrupt',
  'kill',
  'budget',
  'approvals',
  'approve',
  'reject',
  'attach',
  'wait',
  'resume',
  'restore',
  'adopt',
  'all',
  'status',
  'children',
  'progress',
  'checkpoints',
  'events',
  'tail',
  'output',
  'blackboard',
  'what',
  'explain',
  'ps',
  'me',
  'who',
  'others',
  'alone',
  'checkpoint',
  'checkpoint diff',
  'complete',
  'name',
  'task',
  'lock',
  'unlock',
  'up',
  'down',
  'open',
  'doctor',
  'version',
  'search',
  'replay',
  'config show',
  'agents list',
  'agents show',
  'agents check',
  'agents new',
  'crews list',
  'crews show',
  'crews check',
  'models',
  'redact test',
  'completion',
  'log validate',
  'log import',
  'log export',
  'log migrate',
  'log repair',
  'journal verify',
  'journal tail',
  'journal import',
  'journal export',
  'journal stats',
  'journal rebuild-index',
  'hook',
  'watch',
  'service install',
  'service uninstall',
]

const environment = [
  'MUSTER_BASH_ENV',
  'MUSTER_CALL',
  'MUSTER_CONFIG',
  'MUSTER_DEPTH',
  'MUSTER_HOME',
  'MUSTER_ISOLATION',
  'MUSTER_PARENT',
  'MUSTER_SESSION',
  'MUSTER_TOKEN',
]

const sharedFiles = {
  socket: 'muster.sock',
  port: 'port',
  operatorToken: 'operator.token',
  log: 'daemon.log',
}

test('[MUS-10][MUS-220] event types', () => {
  expect(eventTypes.toSorted()).toEqual(events.toSorted())
  expect(schemaVersion).toBe('1')
})

test('[MUS-88][MUS-109][MUS-220] error codes with their HTTP status and exit', () => {
  const found = Object.entries(errorCodes).map(([code, { http, exit }]) => [
    code,
    [`HTTP ${http}`, `exit ${exit}`],
  ])
  expect(Object.fromEntries(found)).toEqual(errors)
})

test('[MUS-220] routes', () => {
  const found = routeEntries.map(
    ([name, { method, path, access, answers }]) =>
      `${name}: ${method.toUpperCase()} ${path}, ${access}, ${answers}`,
  )
  expect(found.toSorted()).toEqual(routes.toSorted())
  expect(wireVersions).toEqual({ current: 1, oldest: 1 })
  expect(wireVersion).toBe(1)
})

test('[MUS-220] names of the event stream', () => {
  expect([...sseTypes].toSorted()).toEqual(streamNames.toSorted())
})

test('[MUS-220] commands', () => {
  expect(commandEntries.map(([name]) => name).toSorted()).toEqual(commands.toSorted())
})

test('[MUS-220] environment variables', () => {
  expect(Object.values(environmentNames).toSorted()).toEqual(environment)
})

test('[MUS-220] no source reads a variable of ours that is not pinned', () => {
  const src = join(import.meta.dirname, '..', 'src')
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(?<!\.test)\.tsx?$/.test(file),
  )
  const named = files.flatMap(
    (file) => readFileSync(join(src, file), 'utf8').match(/\bMUSTER_[A-Z_]+\b/g) ?? [],
  )
  expect([...new Set(named)].toSorted()).toEqual(environment)
})

test('[MUS-220] files of the state folder', () => {
  expect(homeFiles).toEqual(sharedFiles)
  expect(daemonFiles('/h')).toEqual({
    home: '/h',
    journal: '/h/journal',
    index: '/h/index.db',
    search: '/h/search.db',
    vault: '/h/vault',
    vaultKey: '/h/vault.key',
    grants: '/h/grants.json',
    cursors: '/h/cursors',
    sessions: '/h/sessions',
    collaborations: '/h/collaborations',
    bin: '/h/bin',
    tmux: '/h/tmux',
    socket: '/h/muster.sock',
    port: '/h/port',
    operatorToken: '/h/operator.token',
    log: '/h/daemon.log',
  })
})
