// What the feed holds, apart from how it is drawn. Plain data in and out, so that it runs in a test too.

export const maxRows = 500
const maxKept = 2000
const maxText = 300

/** Rows that were received, which of them are wanted, and whether the feed stands still. */
export class Feed {
  #kept = []
  #terms = []
  #fresh = []
  received = 0
  waiting = 0
  lastSeq = 0
  isPaused = false

  /** Takes an event; one that was taken already is passed over. */
  push(event) {
    if (!(event.seq > this.lastSeq)) return
    this.lastSeq = event.seq
    this.received++
    this.#keep(rowOf(event))
  }

  /** Puts a line of our own between events. */
  note(text) {
    this.#keep({ note: text })
  }

  /** Rows to draw since the last time; none while paused. */
  takeFresh() {
    if (this.isPaused) return []
    const fresh = this.#fresh.slice(-maxRows)
    this.#fresh = []
    this.waiting = 0
    return fresh
  }

  /** Everything that fits the filter now, newest last. */
  takeAll() {
    this.#fresh = []
    this.waiting = 0
    return this.#kept.filter((row) => this.#wants(row)).slice(-maxRows)
  }

  filter(text) {
    this.#terms = parseFilter(text)
  }

  clear() {
    this.#kept = []
    this.#fresh = []
    this.waiting = 0
  }

  /** Starts over with another journal, whose numbers begin again. */
  restart() {
    this.clear()
    this.lastSeq = 0
  }

  #keep(row) {
    this.#kept.push(row)
    // A half at a time: shifting at every event would cost more than the event.
    if (this.#kept.length > maxKept * 1.5) this.#kept = this.#kept.slice(-maxKept)
    if (!this.#wants(row)) return
    this.waiting++
    this.#fresh.push(row)
    if (this.#fresh.length > maxRows * 2) this.#fresh = this.#fresh.slice(-maxRows)
  }

  #wants(row) {
    return row.note !== undefined || matches(row, this.#terms)
  }
}

/** Words that must be there; with a minus, words that must not. */
export function parseFilter(text) {
  return text
    .toLowerCase()
    .split(/\s+/)
    .map((word) => ({ isNot: word.startsWith('-'), word: word.replace(/^-/, '') }))
    .filter(({ word }) => word !== '')
}

export const matches = (row, terms) => terms.every(({ isNot, word }) => row.haystack.includes(word) !== isNot)

/** The parts of an event that a line shows, as plain text. */
export function rowOf(event) {
  const session = shortId(String(event.sessionId))
  const text = summary(event.payload)
  const row = {
    seq: event.seq,
    time: String(event.timestamp).slice(11, 23),
    session,
    type: String(event.type),
    actor: String(event.actor),
    tone: toneOf(String(event.type)),
    text,
  }
  return { ...row, haystack: `${row.type} ${event.sessionId} ${session} ${row.actor} ${text}`.toLowerCase() }
}

function toneOf(type) {
  if (/failed|killed|denied|rejected|exceeded|parked|unknown$/.test(type)) return 'bad'
  if (/cancelled|abandoned|expired|warning|waiting|approval\.requested|retry/.test(type)) return 'warn'
  return ''
}

function summary(payload) {
  if (payload === undefined || payload === null) return ''
  const parts = Object.entries(payload).map(([name, value]) => `${name}=${brief(value)}`)
  const text = parts.join('  ').replaceAll(/\s+/g, ' ')
  // Half of a surrogate pair at the cut would be drawn as a broken character.
  return text.length > maxText ? `${text.slice(0, maxText).replace(/[\uD800-\uDBFF]$/, '')}…` : text
}

function brief(value) {
  if (typeof value === 'string') return value.slice(0, maxText)
  if (value !== null && typeof value === 'object' && typeof value.preview === 'string') return value.preview
  return JSON.stringify(value)?.slice(0, maxText) ?? ''
}

/** The eight digits people know a session by. */
export function shortId(id) {
  let hash = 0x811c9dc5
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}
