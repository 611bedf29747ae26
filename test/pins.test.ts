import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commandEntries } from '../src/contract/cli.ts'
import { errorCodes } from '../src/contract/errors.ts'
import { catalogue, eventTypes, schemaVersion } from '../src/contract/event.ts'
import { sseTypes } from '../src/contract/event-definition.ts'
import { environmentNames, homeFiles } from '../src/contract/home.ts'
import { routeEntries } from '../src/contract/routes.ts'
import { wireVersion, wireVersions } from '../src/contract/version.ts'
import { homeFiles as daemonFiles } from '../src/daemon/home.ts'

// What others rely on, written out by hand: a change here is a change of the contract, and belongs in the CHANGELOG.

const events = [
  'session.started, operator',
  'session.launched, daemon',
  'session.updated, daemon',
  'session.archived, daemon',
  'limit.refused, daemon',
  'session.completed, operator',
  'session.failed, operator',
  'session.reopened, operator',
  'session.state.changed, operator',
  'session.annotated, operator',
  'signal.changed, daemon',
  'progress.checkpoint, session',
  'result.summary, session',
  'context.compacted, operator',
  'settings.updated, daemon',
  'queue.updated, daemon',
  'agent.spawned, operator',
  'agent.completed, operator',
  'agent.failed, operator',
  'agent.cancelled, operator',
  'agent.killed, operator',
  'agent.abandoned, operator',
  'agent.idle, operator',
  'agent.waiting, operator',
  'agent.status.changed, operator',
  'agent.task.assigned, operator',
  'task.completed, operator',
  'task.failed, operator',
  'task.cancelled, operator',
  'handoff.requested, operator',
  'handoff.accepted, operator',
  'handoff.rejected, operator',
  'handoff.loop_detected, operator',
  'plan.created, session',
  'decision.made, session',
  'retry.scheduled, session',
  'blackboard.item.created, operator',
  'blackboard.item.updated, operator',
  'tool.call.started, session',
  'tool.call.completed, session',
  'tool.call.failed, session',
  'tool.call.denied, session',
  'llm.request.started, operator',
  'llm.request.completed, operator',
  'llm.request.failed, operator',
  'llm.usage.corrected, operator',
  'patch.created, session',
  'test.passed, session',
  'test.failed, session',
  'budget.warning, daemon',
  'budget.exceeded, daemon',
  'agent.message.created, session',
  'message.queued, daemon',
  'message.delivered, daemon',
  'message.accepted, daemon',
  'message.failed, daemon',
  'approval.requested, daemon',
  'approval.granted, daemon',
  'approval.rejected, daemon',
  'approval.expired, daemon',
  'effect.intended, daemon',
  'effect.done, daemon',
  'effect.unknown, daemon',
  'workflow.created, operator',
  'workflow.approved, operator',
  'workflow.started, operator',
  'workflow.finalized, operator',
  'workflow.failed, operator',
  'workflow.cancelled, operator',
  'workflow.phase.started, operator',
  'workflow.phase.completed, operator',
  'workflow.phase.failed, operator',
  'workflow.node.enter, operator',
  'workflow.node.exit, operator',
  'workflow.checkpoint.saved, operator',
  'workflow.signalled, operator',
  'workflow.checkpoint.resumed, operator',
  'loop.round.started, operator',
  'loop.round.completed, operator',
  'claim.verified, operator',
  'verifier.issue.found, operator',
  'redaction.applied, daemon',
  'journal.recovered, daemon',
  'journal.damaged, daemon',
  'journal.pruned, daemon',
  'journal.erased, daemon',
  'authority.lapsed, daemon',
  'event.parked, daemon',
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
  'health: GET /api/v1/health, open, json',
  'doctor: GET /api/v1/doctor, operate, json',
  'listEvents: GET /api/v1/events, session, json',
  'appendEvents: POST /api/v1/events, session, json',
  'streamEvents: GET /api/v1/events/stream, session, sse',
  'streamRuntime: GET /api/events, session, sse',
  'spawnSession: POST /api/v1/sessions, session, json',
  'listSessions: GET /api/v1/sessions, session, json',
  'getSession: GET /api/v1/sessions/{id}, session, json',
  'updateSession: POST /api/v1/sessions/{id}, subtree, json',
  'listChildren: GET /api/v1/sessions/{id}/children, session, json',
  'getProgress: GET /api/v1/sessions/{id}/progress, subtree, json',
  'getMetrics: GET /api/v1/sessions/{id}/metrics, subtree, json',
  'listCheckpoints: GET /api/v1/sessions/{id}/checkpoints, subtree, json',
  'addCheckpoint: POST /api/v1/sessions/{id}/checkpoints, subtree, json',
  'diffCheckpoints: GET /api/v1/sessions/{id}/checkpoints/diff, subtree, json',
  'completeSession: POST /api/v1/sessions/{id}/complete, subtree, json',
  'listSessionEvents: GET /api/v1/sessions/{id}/events, subtree, json',
  'sendMessage: POST /api/v1/sessions/{id}/messages, below, json',
  'listMessages: GET /api/v1/sessions/{id}/messages, subtree, json',
  'getMessage: GET /api/v1/messages/{message}, session, json',
  'interruptSession: POST /api/v1/sessions/{id}/interrupt, below, json',
  'listUnsaved: GET /api/v1/sessions/{id}/unsaved, subtree, json',
  'killSession: POST /api/v1/sessions/{id}/kill, subtree, json',
  'resumeSession: POST /api/v1/sessions/{id}/resume, below, json',
  'adoptSession: POST /api/v1/sessions/{id}/adopt, subtree, json',
  'explainSession: GET /api/v1/sessions/{id}/explain, subtree, json',
  'getOutput: GET /api/v1/sessions/{id}/output, subtree, json',
  'getTranscript: GET /api/v1/sessions/{id}/transcript, subtree, json',
  'getAttach: GET /api/v1/sessions/{id}/attach, subtree, json',
  'getSummary: GET /api/v1/sessions/{id}/summary, subtree, json',
  'listApprovals: GET /api/v1/approvals, session, json',
  'decideApproval: POST /api/v1/approvals/{id}, session, json',
  'listProcesses: GET /api/v1/processes, session, json',
  'restoreSessions: POST /api/v1/restore, operate, json',
  'checkSessions: POST /api/v1/doctor/sessions, operate, json',
  'whoAmI: GET /api/v1/me, session, json',
  'runHook: POST /api/v1/hooks/{cli}/command, session, json',
  'receiveHook: POST /api/v1/hooks/{cli}, session, json',
  'listAgentRuns: GET /api/agent-runs, session, json',
  'listAgentChildren: GET /api/agent-children, session, json',
  'getAgentContext: GET /api/agent-context, session, json',
  'cancelAgent: POST /api/agent-cancel, session, json',
  'replayRun: POST /api/v1/runs/{id}/replay, operate, json',
  'chat: POST /api/chat, session, json',
  'getSettings: GET /api/settings, session, json',
  'setSettings: POST /api/settings, operate, json',
  'getWorkspaceTree: GET /api/workspace/tree, session, json',
  'dismissMessage: POST /api/v1/messages/{message}/dismiss, session, json',
  'getBlackboard: GET /api/v1/sessions/{id}/blackboard, session, json',
  'listRuns: GET /api/v1/sessions/{id}/runs, subtree, json',
  'listSpans: GET /api/v1/sessions/{id}/spans, subtree, json',
  'search: GET /api/v1/search, session, json',
  'exportLog: GET /api/v1/sessions/{id}/log, subtree, json',
  'importLog: POST /api/v1/log, operate, json',
  'listAgents: GET /api/v1/agents, session, json',
  'getAgent: GET /api/v1/agents/{name}, session, json',
  'listCrews: GET /api/v1/crews, session, json',
  'getCrew: GET /api/v1/crews/{name}, session, json',
  'startCrew: POST /api/v1/workflows/crew, session, json',
  'startScript: POST /api/v1/workflows/script, session, json',
  'listWorkflows: GET /api/v1/workflows, session, json',
  'getWorkflow: GET /api/v1/workflows/{id}, session, json',
  'cancelWorkflow: POST /api/v1/workflows/{id}/cancel, session, json',
  'resumeWorkflow: POST /api/v1/workflows/{id}/resume, session, json',
  'forkWorkflow: POST /api/v1/workflows/{id}/fork, operate, json',
  'listModels: GET /api/models, session, json',
  'listAgentTypes: GET /api/agents, session, json',
  'getConfig: GET /api/v1/config, operate, json',
  'journalStats: GET /api/v1/journal, operate, json',
  'rebuildIndex: POST /api/v1/journal/rebuild-index, operate, json',
  'createLoginLink: POST /api/v1/login-links, operate, json',
  'shutdown: POST /api/v1/shutdown, operate, json',
  'openapi: GET /api/v1/openapi.json, session, json',
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

test('[MUS-10][MUS-220][MUS-288] event types, and who may report each', () => {
  const found = eventTypes.map((type) => `${type}, ${catalogue[type].reporter}`)
  expect(found.toSorted()).toEqual(events.toSorted())
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
