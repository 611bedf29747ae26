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
