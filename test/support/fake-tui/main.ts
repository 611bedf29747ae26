/**
 * A program for terminals under test that looks and reports like Claude Code, and is as unkind to its input as
 * terminals can be. What was submitted to it is in `$FAKE_TUI_FOLDER/<its folder's name>.jsonl`, one line each.
 */
import { appendFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { setTimeout as sleep } from 'node:timers/promises'
import { Box } from './box.ts'
import { type Input, inputReader } from './keys.ts'
import { reporter } from './report.ts'
import { painter } from './screen.ts'
import { weather } from './weather.ts'

const args = process.argv.slice(2)
if (args.includes('--version')) {
  process.stdout.write('2.1.325 (Claude Code)\n')
  process.exit(0)
}
const option = (name: string): string => args[args.indexOf(name) + 1] ?? ''
const place = basename(process.cwd())
const habit = process.env['FAKE_TUI_CALM'] ? 0 : Number(/\d+$/.exec(place)?.[0] ?? 0)
const sky = weather(Number(process.env['FAKE_TUI_SEED'] ?? 1), habit)
const report = reporter({
  settings: option('--settings'),
  session: option(args.includes('--resume') ? '--resume' : '--session-id'),
})
const note = (what: Record<string, unknown>): void =>
  appendFileSync(join(process.env['FAKE_TUI_FOLDER'] ?? '', `${place}.jsonl`), `${JSON.stringify(what)}\n`)

/** A prompt, and what its hook said to go with it. */
type Prompt = { readonly text: string; readonly context?: Promise<string | undefined> }

const box = new Box(sky.mostShown)
const said: string[] = []
const waiting: Prompt[] = []
let isWorking = false
let isHidden = false
let isSmeared = false
let dialog: { text: string; answer: (by: string) => void } | undefined
let swallows = 0
let turn = new AbortController()
/** Whether the next Escape is missed: the first one in a turn that is to be so. */
let misses = missed('')
const draw = painter(
  () => ({ said, box: box.shown, isWorking, isHidden, isSmeared, dialog: dialog?.text }),
  sky,
)

function take(input: Input): void {
  if (dialog) return answer(input, dialog.answer)
  switch (input.kind) {
    case 'text':
      box.type(input.text)
      break
    case 'paste':
      swallows = /^(\[from [^\]]*\] )?deaf/.test(input.text) ? Number.POSITIVE_INFINITY : sky.swallows()
      isSmeared = input.text.includes('smeared') || sky.smears()
      box.paste(input.text)
      break
    case 'backspace':
      box.erase()
      break
    case 'clear':
      box.clear()
      break
    case 'escape':
      if (isWorking && !misses.next().value) turn.abort()
      break
    case 'enter':
      enter()
      break
    case 'quit':
      process.exit(0)
  }
  draw()
}

function* missed(prompt: string): Generator<boolean, false> {
  if (prompt.startsWith('numb')) yield true
  return false
}

function answer(input: Input, settle: (by: string) => void): void {
  if (input.kind === 'paste') note({ kind: 'dropped', text: input.text })
  else if (input.kind === 'enter' || input.kind === 'escape') settle(input.kind)
  else if (input.kind === 'text' && /^[12]$/.test(input.text)) settle(`key ${input.text}`)
}

function enter(): void {
  if (swallows > 0) {
    swallows -= 1
    note({ kind: 'swallowed' })
    return
  }
  const { text } = box
  if (text.trim() === '') return
  box.clear()
  note({ kind: 'submit', text })
  if (isWorking) {
    report.write({ type: 'queue-operation', operation: 'enqueue', content: text })
    // Told while it waits; what comes back goes to the model with the prompt, and stands in the record at once.
    waiting.push({ text, context: submitted(text) })
    return
  }
  void run({ text })
}

/** One turn; what waited behind it follows. */
async function run({ text: prompt, context }: Prompt): Promise<void> {
  isWorking = true
  turn = new AbortController()
  misses = missed(prompt)
  said.push(prompt)
  const at = Date.now()
  const output = { any: false }
  draw()
  try {
    await began(prompt, { at, context })
    await work(prompt, output)
  } catch (error) {
    if (!turn.signal.aborted) throw error
    interrupted(prompt, output.any)
  }
  isWorking = false
  await reline()
  draw()
  const next = waiting.shift()
  if (next !== undefined) void run(next)
}

async function began(prompt: string, given: { at: number; context: Prompt['context'] }): Promise<void> {
  const recorded = sleep(sky.recordDelayMs()).then(() =>
    report.write({ type: 'user', message: { role: 'user', content: prompt } }, given.at),
  )
  const text = await (given.context ?? submitted(prompt))
  if (text !== undefined) note({ kind: 'inject', text, by: 'UserPromptSubmit' })
  await recorded
}

/** Tells of a prompt, and what is to go with it. Hooks get lost; the record does not. */
async function submitted(prompt: string): Promise<string | undefined> {
  await sleep(sky.hookDelayMs())
  return sky.chance(0.04)
    ? undefined
    : context('UserPromptSubmit', await report.tell('UserPromptSubmit', { prompt }))
}

async function work(prompt: string, output: { any: boolean }): Promise<void> {
  const { signal } = turn
  const busyMs = Number(/for (\d+) ms/.exec(prompt)?.[1] ?? sky.busyMs())
  await sleep(busyMs, undefined, { signal })
  if (sky.chance(0.5)) {
    output.any = true
    await tool(signal)
  }
  output.any = true
  for (let again = true; again; ) {
    await sleep(sky.busyMs() / 2, undefined, { signal })
    const message = { id: `msg_${Math.random()}`, model: 'fake', role: 'assistant', stop_reason: 'end_turn' }
    report.write({ type: 'assistant', message: { ...message, content: [{ type: 'text', text: 'Yes.' }] } })
    const reply = await report.tell('Stop', { last_assistant_message: 'Yes.', background_tasks: [] })
    again = reply['decision'] === 'block'
    if (again) {
      note({ kind: 'inject', text: reply['reason'], by: 'Stop' })
      const content = `Stop hook feedback:\n${String(reply['reason'])}`
      report.write({ type: 'user', isMeta: true, message: { role: 'user', content } })
    }
  }
}

async function tool(signal: AbortSignal): Promise<void> {
  const call = { tool_name: 'Bash', tool_use_id: `toolu_${Math.random()}`, tool_input: { command: 'true' } }
  await report.tell('PreToolUse', call)
  const content = [{ type: 'tool_use', id: call.tool_use_id, name: 'Bash', input: call.tool_input }]
  const message = {
    id: `msg_${Math.random()}`,
    model: 'fake',
    role: 'assistant',
    stop_reason: 'tool_use',
    content,
  }
  report.write({ type: 'assistant', message })
  if (sky.asks()) await ask(call, signal)
  await sleep(sky.busyMs(), undefined, { signal })
  const reply = await report.tell('PostToolUse', { ...call, tool_response: 'ok' })
  const result = { type: 'tool_result', tool_use_id: call.tool_use_id, content: 'ok' }
  report.write({ type: 'user', message: { role: 'user', content: [result] } })
  const text = context('PostToolUse', reply)
  if (text !== undefined) note({ kind: 'inject', text, by: 'PostToolUse' })
}

async function ask(call: object, signal: AbortSignal): Promise<void> {
  const over = new AbortController()
  const by = await new Promise<string>((resolve) => {
    dialog = { text: 'true', answer: resolve }
    draw()
    const given = report.tell('PermissionRequest', { ...call, permission_suggestions: [] }, over.signal)
    given.then(
      (reply) => 'hookSpecificOutput' in reply && resolve('hook'),
      () => {},
    )
  })
  note({ kind: 'dialog', by })
  over.abort()
  dialog = undefined
  draw()
  if (by === 'escape') turn.abort()
  signal.throwIfAborted()
}

function context(event: string, reply: Record<string, unknown>): string | undefined {
  const output = reply['hookSpecificOutput'] as { additionalContext?: string } | undefined
  const text = output?.additionalContext
  if (text === undefined) return undefined
  report.write({
    type: 'attachment',
    attachment: { type: 'hook_additional_context', content: [text], hookEvent: event },
  })
  return text
}

/** A prompt that has no answer yet goes back into the box. */
function interrupted(prompt: string, hasOutput: boolean): void {
  dialog = undefined
  const isBack = !hasOutput && box.text === '' && (habit === 0 || sky.chance(0.5))
  note({ kind: 'interrupt', isBack })
  if (isBack) box.paste(prompt)
  else {
    const content = [{ type: 'text', text: '[Request interrupted by user]' }]
    report.write({ type: 'user', interruptedMessageId: 'fake', message: { role: 'user', content } })
  }
}

/** Between two turns the input line may be set up anew; what comes in then is not framed. */
async function reline(): Promise<void> {
  const ms = sky.relineMs()
  if (ms === 0) return
  isHidden = true
  process.stdout.write('\u001b[?2004l')
  draw()
  await sleep(ms)
  process.stdout.write('\u001b[?2004h')
  isHidden = false
}

const decoder = new StringDecoder('utf8')
const read = inputReader(take)
process.stdin.setRawMode(true)
process.stdin.on('data', (chunk: Buffer) => {
  const pauseMs = sky.readPauseMs()
  const stallMs = sky.stallMs()
  if (stallMs > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stallMs)
  if (pauseMs === 0) return read(decoder.write(chunk))
  process.stdin.pause()
  setTimeout(() => {
    read(decoder.write(chunk))
    process.stdin.resume()
  }, pauseMs)
})
process.stdout.on('resize', () => {
  isSmeared = false
  draw()
})
for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(0))
process.stdout.write('\u001b[?2004h\u001b[2J')
await report.tell('SessionStart', { source: 'startup', model: 'fake' })
draw()
const given = args.includes('--') ? option('--') : ''
if (given !== '') void run({ text: given })
