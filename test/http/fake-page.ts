import { afterAll } from 'vitest'

/** As much of a browser as the page uses; it draws nothing and keeps what a person would see. */
export class FakeElement {
  readonly tag: string
  children: FakeElement[] = []
  parent: FakeElement | undefined
  className = ''
  value = ''
  title = ''
  type = ''
  hidden = false
  scrollTop = 0
  clientHeight = 0
  dataset: Record<string, string> = {}
  attributes: Record<string, string> = {}
  isFocused = false
  #text = ''
  #listeners = new Map<string, ((event: unknown) => void)[]>()

  constructor(tag: string) {
    this.tag = tag
  }

  get textContent(): string {
    return this.#text + this.children.map((child) => child.textContent).join('')
  }
  set textContent(text: string) {
    this.#text = String(text)
    this.children = []
  }
  get childElementCount() {
    return this.children.length
  }
  get firstElementChild() {
    return this.children[0]
  }
  get lastElementChild() {
    return this.children.at(-1)
  }
  get scrollHeight() {
    return this.children.length * 10
  }
  append(...nodes: FakeElement[]) {
    for (const node of nodes) node.parent = this
    this.children.push(...nodes)
  }
  replaceChildren(...nodes: FakeElement[]) {
    this.children = []
    this.append(...nodes)
  }
  remove() {
    if (this.parent) this.parent.children = this.parent.children.filter((child) => child !== this)
  }
  setAttribute(name: string, value: string) {
    this.attributes[name] = value
  }
  focus() {
    this.isFocused = true
  }
  blur() {
    this.isFocused = false
  }
  addEventListener(type: string, listener: (event: unknown) => void) {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener])
  }
  fire(type: string, event: object = {}) {
    for (const listener of this.#listeners.get(type) ?? [])
      listener({ target: this, preventDefault() {}, ...event })
  }
}

class FakeInput extends FakeElement {}

/** A stream that the test speaks for. */
export class FakeEventSource extends FakeElement {
  static readonly CLOSED = 2
  static readonly opened: FakeEventSource[] = []
  readonly url: string
  readyState = 0
  onopen: () => void = () => {}
  onerror: () => void = () => {}

  constructor(url: string) {
    super('stream')
    this.url = url
    FakeEventSource.opened.push(this)
  }
  open() {
    this.readyState = 1
    this.onopen()
  }
  fail(readyState: 0 | 2) {
    this.readyState = readyState
    this.onerror()
  }
  send(event: { type: string }) {
    this.fire(event.type, { data: JSON.stringify(event) })
  }
  close() {
    this.readyState = 2
  }
}

/** Puts a page in place of this process's globals until the end of the file, and answers its parts by id. */
export function fakePage(types: readonly string[], answer: (path: string) => Response) {
  const parts = new Map<string, FakeElement>()
  const byId = (id: string) => {
    if (!parts.has(id)) parts.set(id, id === 'filter' ? new FakeInput('input') : new FakeElement(id))
    return parts.get(id) as FakeElement
  }
  const body = new FakeElement('body')
  body.dataset = { types: types.join(' ') }
  const document = Object.assign(new FakeElement('document'), {
    body,
    getElementById: byId,
    createElement: (tag: string) => new FakeElement(tag),
  })
  const timers: (() => void)[] = []
  const globals = {
    document,
    HTMLInputElement: FakeInput,
    EventSource: FakeEventSource,
    requestAnimationFrame: (draw: () => void) => queueMicrotask(draw),
    fetch: async (path: string) => answer(path),
    setTimeout: (run: () => void) => timers.push(run),
  }
  const before = Object.getOwnPropertyDescriptors(globalThis) as Record<string, PropertyDescriptor>
  afterAll(() => {
    for (const name of Object.keys(globals)) {
      const was = before[name]
      if (was) Object.defineProperty(globalThis, name, was)
      else Reflect.deleteProperty(globalThis, name)
    }
  })
  Object.assign(globalThis, globals)
  return {
    byId,
    document,
    /** Runs what waits for time. */
    tick() {
      for (const run of timers.splice(0)) run()
    },
    key: (key: string, target: FakeElement = body) => document.fire('keydown', { key, target }),
  }
}
