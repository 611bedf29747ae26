import { Feed, maxRows } from './feed-model.js'

const byId = (id) => document.getElementById(id)
const rows = byId('rows')
const filter = byId('filter')
const feed = new Feed()
const types = document.body.dataset.types.split(' ')

let source
let isDrawing = false
let isSessionsDue = false
let retryMs = 1000

// Connection

async function connect() {
  source?.close()
  show('connecting', 'Connecting…')
  try {
    const { events, seq } = await get(
      `/api/v1/events?limit=200${feed.lastSeq > 0 ? `&after=${feed.lastSeq}` : ''}`,
    )
    if (seq < feed.lastSeq) {
      feed.restart()
      redraw()
      return connect()
    }
    for (const event of events) feed.push(event)
    draw()
    listen(feed.lastSeq > 0 ? feed.lastSeq : seq)
    refresh()
  } catch (error) {
    giveUp(error)
  }
}

function listen(after) {
  source = new EventSource(`/api/v1/events/stream?after=${after}`)
  const mine = source
  source.onopen = () => {
    retryMs = 1000
    show('live', 'Live')
    refresh()
  }
  source.onerror = () => {
    if (mine !== source) return
    // The browser comes back by itself after a cut, but never after a refusal.
    if (source.readyState === EventSource.CLOSED) void whyRefused()
    else show('reconnecting', 'Reconnecting…')
  }
  for (const type of types) source.addEventListener(type, (message) => take(JSON.parse(message.data)))
  source.addEventListener('resync', (message) => {
    const { reason, seq } = JSON.parse(message.data)
    if (reason === 'unknown_id') feed.restart()
    feed.note(`Some events were missed (${reason}); going on from ${seq}.`)
    redraw()
  })
}

async function whyRefused() {
  try {
    await get('/api/v1/health')
    giveUp(new Error('The stream was refused.'))
  } catch (error) {
    giveUp(error)
  }
}

function giveUp(error) {
  show('failed', `${error.message} Trying again in ${Math.round(retryMs / 1000)} s.`)
  setTimeout(connect, retryMs)
  retryMs = Math.min(retryMs * 2, 15_000)
}

async function get(path) {
  let response
  try {
    response = await fetch(path, { headers: { accept: 'application/json' } })
  } catch {
    throw new Error('The daemon does not answer; start it with sm up.')
  }
  const body = await response.json()
  if (!response.ok) throw new Error(`${body.message ?? response.statusText}.`)
  return body
}

function take(event) {
  feed.push(event)
  if (/^(session|agent)\./.test(event.type)) refreshSoon()
  draw()
}

// Health and sessions

function refreshSoon() {
  if (isSessionsDue) return
  isSessionsDue = true
  setTimeout(() => {
    isSessionsDue = false
    refresh()
  }, 1000)
}

function refresh() {
  get('/api/v1/health').then(showHealth, () => {})
  get('/api/v1/sessions?limit=50').then(
    ({ sessions }) => showSessions(sessions),
    () => {},
  )
}

function showHealth({ version, journal }) {
  byId('health').textContent = `${version} · journal ${journal}`
}

function showSessions(sessions) {
  byId('no-sessions').hidden = sessions.length > 0
  byId('session-count').textContent = sessions.length > 0 ? String(sessions.length) : ''
  byId('sessions').replaceChildren(...sessions.map(sessionItem))
}

function sessionItem(session) {
  const button = element('button', '', session.title ?? session.name ?? session.prompt ?? session.shortId)
  button.type = 'button'
  button.title = 'Show only this session'
  const state = [session.shortId, session.lifecycle, session.agentType].filter(Boolean).join(' · ')
  button.append(document.createElement('br'), element('span', 'quiet', state))
  button.addEventListener('click', () => {
    filter.value = filter.value === session.shortId ? '' : session.shortId
    refilter()
  })
  const item = document.createElement('li')
  item.append(button)
  return item
}

// Drawing. Text only ever enters by textContent: an event may say anything.

function draw() {
  if (isDrawing) return
  isDrawing = true
  requestAnimationFrame(() => {
    isDrawing = false
    const wasAtEnd = isAtEnd()
    append(feed.takeFresh(), wasAtEnd)
  })
}

function redraw() {
  rows.replaceChildren()
  append(feed.takeAll(), true)
}

function append(fresh, isFollowing) {
  rows.append(...fresh.map(line))
  while (rows.childElementCount > maxRows) rows.firstElementChild.remove()
  if (isFollowing) rows.scrollTop = rows.scrollHeight
  if (isFollowing) byId('newer').hidden = true
  else if (fresh.length > 0) byId('newer').hidden = false
  showCounts()
}

function line(row) {
  const item = document.createElement('li')
  if (row.note !== undefined) {
    item.className = 'resync'
    item.textContent = row.note
    return item
  }
  item.title = `seq ${row.seq}`
  item.append(
    element('span', 'time', row.time),
    element('span', 'session', row.session),
    element('span', `type ${row.tone}`, row.type),
    element('span', 'actor', row.actor),
    element('span', 'text', row.text),
  )
  item.lastElementChild.title = row.text
  return item
}

function element(tag, className, text) {
  const made = document.createElement(tag)
  made.className = className
  made.textContent = text
  return made
}

const isAtEnd = () => rows.scrollHeight - rows.scrollTop - rows.clientHeight < 40

function showCounts() {
  byId('shown').textContent = String(rows.childElementCount)
  byId('received').textContent = String(feed.received)
  byId('seq').textContent = feed.lastSeq > 0 ? String(feed.lastSeq) : '–'
  byId('empty').hidden = rows.childElementCount > 0
  const isFiltered = feed.received > 0
  byId('empty-title').textContent = isFiltered ? 'Nothing to show' : 'No events yet'
  byId('empty-text').hidden = isFiltered
  byId('pause-text').textContent = feed.isPaused ? `Resume (${feed.waiting} waiting)` : 'Pause'
}

function show(state, text) {
  byId('state').dataset.state = state
  byId('state-text').textContent = text
}

// Controls

function refilter() {
  feed.filter(filter.value)
  redraw()
}

function togglePause() {
  feed.isPaused = !feed.isPaused
  byId('pause').setAttribute('aria-pressed', String(feed.isPaused))
  if (feed.isPaused) showCounts()
  else redraw()
}

filter.addEventListener('input', refilter)
byId('pause').addEventListener('click', togglePause)
byId('clear').addEventListener('click', () => {
  feed.clear()
  redraw()
})
byId('newer').addEventListener('click', () => {
  rows.scrollTop = rows.scrollHeight
})
rows.addEventListener('scroll', () => {
  if (isAtEnd()) byId('newer').hidden = true
})
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  if (event.key === 'Escape' && event.target === filter) {
    filter.value = ''
    refilter()
    filter.blur()
  }
  if (event.target instanceof HTMLInputElement) return
  if (event.key === '/') {
    event.preventDefault()
    filter.focus()
  }
  if (event.key === 'p') togglePause()
})
byId('types').append(...types.map((type) => Object.assign(document.createElement('option'), { value: type })))

showCounts()
void connect()
