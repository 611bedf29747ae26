import type { Route } from './route.ts'

/** Where a route is and how it answers: all that a caller needs, without the schemas, which take long to build. */
export type RoutePlace = Pick<Route, 'method' | 'path' | 'answers'>

const get = <const P extends string>(path: P) => ({ method: 'get', path, answers: 'json' }) as const
const post = <const P extends string>(path: P) => ({ method: 'post', path, answers: 'json' }) as const
const stream = <const P extends string>(path: P) => ({ method: 'get', path, answers: 'sse' }) as const

/** The place of every route, by its name. */
export const places = {
  health: get('/api/v1/health'),
  doctor: get('/api/v1/doctor'),
  listEvents: get('/api/v1/events'),
  appendEvents: post('/api/v1/events'),
  streamEvents: stream('/api/v1/events/stream'),
  streamRuntime: stream('/api/events'),
  listSessions: get('/api/v1/sessions'),
  getSession: get('/api/v1/sessions/{id}'),
  listRuns: get('/api/v1/sessions/{id}/runs'),
  listSpans: get('/api/v1/sessions/{id}/spans'),
  spawnSession: post('/api/v1/sessions'),
  listChildren: get('/api/v1/sessions/{id}/children'),
  getProgress: get('/api/v1/sessions/{id}/progress'),
  getMetrics: get('/api/v1/sessions/{id}/metrics'),
  listCheckpoints: get('/api/v1/sessions/{id}/checkpoints'),
  addCheckpoint: post('/api/v1/sessions/{id}/checkpoints'),
  diffCheckpoints: get('/api/v1/sessions/{id}/checkpoints/diff'),
  completeSession: post('/api/v1/sessions/{id}/complete'),
  listSessionEvents: get('/api/v1/sessions/{id}/events'),
  sendMessage: post('/api/v1/sessions/{id}/messages'),
  listMessages: get('/api/v1/sessions/{id}/messages'),
  getMessage: get('/api/v1/messages/{message}'),
  interruptSession: post('/api/v1/sessions/{id}/interrupt'),
  listUnsaved: get('/api/v1/sessions/{id}/unsaved'),
  killSession: post('/api/v1/sessions/{id}/kill'),
  updateSession: post('/api/v1/sessions/{id}'),
  resumeSession: post('/api/v1/sessions/{id}/resume'),
  adoptSession: post('/api/v1/sessions/{id}/adopt'),
  explainSession: get('/api/v1/sessions/{id}/explain'),
  getOutput: get('/api/v1/sessions/{id}/output'),
  getTranscript: get('/api/v1/sessions/{id}/transcript'),
  getAttach: get('/api/v1/sessions/{id}/attach'),
  getSummary: get('/api/v1/sessions/{id}/summary'),
  listApprovals: get('/api/v1/approvals'),
  decideApproval: post('/api/v1/approvals/{id}'),
  listProcesses: get('/api/v1/processes'),
  restoreSessions: post('/api/v1/restore'),
  checkSessions: post('/api/v1/doctor/sessions'),
  whoAmI: get('/api/v1/me'),
  receiveHook: post('/api/v1/hooks/{cli}'),
  runHook: post('/api/v1/hooks/{cli}/command'),
  search: get('/api/v1/search'),
  exportLog: get('/api/v1/sessions/{id}/log'),
  importLog: post('/api/v1/log'),
  listAgents: get('/api/v1/agents'),
  getAgent: get('/api/v1/agents/{name}'),
  getConfig: get('/api/v1/config'),
  journalStats: get('/api/v1/journal'),
  rebuildIndex: post('/api/v1/journal/rebuild-index'),
  createLoginLink: post('/api/v1/login-links'),
  shutdown: post('/api/v1/shutdown'),
  openapi: get('/api/v1/openapi.json'),
} as const satisfies Record<string, RoutePlace>
