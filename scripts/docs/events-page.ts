import { catalogue, EventEnvelope, eventTypes } from '../../src/contract/event.ts'
import { fieldTable } from './field-rows.ts'
import { code, page } from './markdown.ts'

const roles = {
  start: 'It opens a span.',
  end: 'It closes a span.',
  point: 'It is a point inside a span.',
} as const

const reporters = {
  daemon: 'Only the daemon writes it.',
  operator: "A person's tools may report it, of a session that Muster does not run.",
  session: 'A session may report it, of itself and of those below it.',
} as const

/** The reference of events: what each type means, its fields, and how it shows in each view. */
export function eventsPage(): string {
  return page('Events', [
    'One line of the journal is one event. Every event has the envelope; its type says what its payload holds.',
    ['## The envelope', fieldTable(EventEnvelope, 'output')].join('\n\n'),
    ...eventTypes.map((type) => {
      const { about, span, payload, sm, sse, std008, reporter, control } = catalogue[type]
      const shown = [
        `${code('sm events')}: ${sm?.words.map(code).join(', ') ?? '–'}`,
        `SSE: ${sse.map(code).join(', ')}`,
        `session file: ${std008 ?? '–'}`,
      ]
      return [
        `## ${type}`,
        `${about} ${roles[span]} ${reporters[reporter]}${control.length > 0 ? ` Only the daemon sets ${control.map(code).join(', ')}.` : ''}`,
        `${shown.join(' · ')}`,
        fieldTable(payload, 'output'),
      ].join('\n\n')
    }),
  ])
}
