import type { Access, Route } from '../../src/contract/route.ts'
import { routeEntries } from '../../src/contract/routes.ts'
import { fieldTable } from './field-rows.ts'
import { code, page } from './markdown.ts'

const access: Record<Access, string> = {
  open: 'Needs no token.',
  session:
    "Needs a session's own token, which sees and reaches itself and what is below it, or the operator's.",
  subtree: "Needs the token of the session, of one above it, or the operator's.",
  below: "Needs the token of a session above it, or the operator's.",
  operate: "Needs the operator's token.",
}
const answers: Record<Route['answers'], string> = {
  json: 'Answers one JSON value:',
  sse: 'Answers a stream of server-sent events; each has this data:',
}

/** The reference of the HTTP interface for people; programs have openapi.json. */
export function routesPage(): string {
  return page('HTTP interface', [
    'The daemon answers on loopback and on a unix socket. `openapi.json` beside this page says the same for programs.',
    ...routeEntries.map(([name, route]) =>
      [
        `## ${name}`,
        code(`${route.method.toUpperCase()} ${route.path}`),
        `${route.summary}. ${access[route.access]}`,
        takes(route),
        answers[route.answers],
        fieldTable(route.output, 'output'),
      ].join('\n\n'),
    ),
  ])
}

function takes(route: Route): string {
  return Object.keys(route.input.shape).length === 0
    ? 'Takes nothing.'
    : `Takes:\n\n${fieldTable(route.input, 'input')}`
}
