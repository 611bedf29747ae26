import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { echoTty, never, ready, tempTmux, until } from '../../../test/support/temp-tmux.ts'

/** Opens the echoing program; `received` ends it and answers its input. */
async function echo(mode: 'raw' | 'plain' | 'lines') {
  const temp = tempTmux()
  const terminal = await temp.open()
  const report = join(temp.folder, 'report')
  const pane = await terminal.open(temp.request('eng-1', [process.execPath, echoTty, report, mode]), never)
  await ready(terminal, pane)
  return {
    ...temp,
    terminal,
    pane,
    received: async (): Promise<string> => {
      await terminal.keys(pane, { keys: ['C-d'] }, never)
      await terminal.event({ kind: 'exited', code: 0 })
      return readFileSync(report, 'utf8')
    },
  }
}

const framed = (text: string) => `\u001b[200~${text}\u001b[201~`

test('[MUS-237] 100 KB of many lines and all kinds of letters arrive whole, as one paste', async () => {
  const { terminal, pane, received, folder, tmux } = await echo('raw')
  const line = 'Zeile ñ 中文 😀👩‍👩‍👧 עברית \\n $HOME #{pid} `x` \'q\' "d" 100% ;\n'
  const text = line.repeat(Math.ceil(100_000 / Buffer.byteLength(line)))
  await terminal.paste(pane, { text: text, id: 'm1' }, never)
  const got = await received()
  expect(Buffer.byteLength(got)).toBeGreaterThan(100_000)
  expect(got === framed(text)).toBe(true)
  expect(readdirSync(folder).filter((name) => name.startsWith('paste'))).toEqual([])
  expect(tmux('list-buffers')).toBe('')
})

test('[MUS-237] a program that did not ask for it gets no frame, and line feeds stay line feeds', async () => {
  const { terminal, pane, received } = await echo('plain')
  await terminal.paste(pane, { text: 'one\ntwo\n', id: 'm1' }, never)
  expect(await received()).toBe('one\ntwo\n')
})

test('[MUS-237] text cannot leave its frame, submit itself or press keys', async () => {
  const { terminal, pane, received } = await echo('raw')
  await terminal.paste(pane, { text: 'a\u001b[201~\rb\r\nc\u0004\u0003\u009bd\u007f\te\0', id: 'm1' }, never)
  expect(await received()).toBe(framed('a[201~\nb\ncd\te'))
})

test('[MUS-237] pastes arrive in the order of the calls', async () => {
  const { terminal, pane, received } = await echo('plain')
  const texts = Array.from({ length: 20 }, (_, i) => `${i}:${'x'.repeat(500)}\n`)
  for (const text of texts) await terminal.paste(pane, { text: text, id: 'm1' }, never)
  expect(await received()).toBe(texts.join(''))
})

test('[MUS-237] nothing to paste is no paste', async () => {
  const { terminal, pane, received } = await echo('raw')
  await terminal.paste(pane, { text: '', id: 'm1' }, never)
  await terminal.paste(pane, { text: '\u001b\u0007', id: 'm1' }, never)
  expect(await received()).toBe('')
})

test('[MUS-237] a program that reads whole lines gets each line up to the length of the terminal’s own buffer', async () => {
  const { terminal, pane, received } = await echo('lines')
  const short = 'x'.repeat(4000)
  await terminal.paste(pane, { text: `${short}\n`, id: 'm1' }, never)
  await terminal.paste(pane, { text: `${'y'.repeat(6000)}\n`, id: 'm1' }, never)
  const [first = '', second = ''] = (await received()).split('\n')
  expect(first).toBe(short)
  // The kernel keeps 4095 bytes of a line: the loss is the terminal's, and why text is pasted into raw programs.
  expect(second).toBe('y'.repeat(4095))
})

test('[MUS-237] keys arrive as a terminal sends them', async () => {
  const { terminal, pane, received } = await echo('raw')
  const keys = ['a', 'Enter', 'Escape', 'Up', 'C-c', 'Space', "'", '-', ';', '"', '\\', 'é', '#', '~']
  await terminal.keys(pane, { keys }, never)
  expect(await received()).toBe(`a\r\u001b\u001b[A\u0003 '-;"\\é#~`)
})

test('[MUS-237] a key that does not exist is refused, not typed', async () => {
  const { terminal, pane, received } = await echo('raw')
  for (const key of ['Ecsape', 'ab', '', 'C-', '\n', 'Enter\n'])
    await expect(terminal.keys(pane, { keys: ['x', key] }, never)).rejects.toMatchObject({ code: 'invalid' })
  expect(await received()).toBe('')
})

test('[MUS-237] a person’s scrolling is ended, and keys and pastes reach the program', async () => {
  const { terminal, pane, received, tmux } = await echo('raw')
  tmux('copy-mode', '-t', pane.pane)
  tmux('display-panes', '-d', '1')
  expect(await terminal.capture(pane, never)).toMatchObject({ isInMode: true })
  await terminal.keys(pane, { keys: ['x'] }, never)
  expect(await terminal.capture(pane, never)).toMatchObject({ isInMode: false })
  tmux('copy-mode', '-t', pane.pane)
  await terminal.paste(pane, { text: 'y', id: 'm1' }, never)
  expect(await terminal.capture(pane, never)).toMatchObject({ isInMode: false })
  expect(await received()).toBe(`x${framed('y')}`)
})

test('[MUS-242] nothing is pasted or pressed where the cursor has moved or a person has typed since the look', async () => {
  const { terminal, pane, received, tmux } = await echo('raw')
  const { stamp } = await terminal.capture(pane, never)
  expect(stamp).toMatch(/^0:0:\d+$/)
  for (const moved of [
    stamp?.replace('0:', '1:'),
    stamp?.replace(/\d+$/, (second) => `${Number(second) - 1}`),
  ]) {
    expect(await terminal.paste(pane, { text: 'no', id: 'm1', stamp: moved }, never)).toBe(false)
    expect(await terminal.keys(pane, { keys: ['Enter'], stamp: moved }, never)).toBe(false)
  }
  expect(tmux('list-buffers')).toBe('')
  expect(await terminal.capture(pane, never)).not.toHaveProperty('pastedId')
  expect(await terminal.paste(pane, { text: 'yes', id: 'm2', stamp }, never)).toBe(true)
  expect(await terminal.keys(pane, { keys: ['Enter'], stamp }, never)).toBe(true)
  expect(await received()).toBe(`${framed('yes')}\r`)
})

test('[MUS-243] the terminal itself knows what was pasted last, whoever asks', async () => {
  const { terminal, pane, open } = await echo('raw')
  await terminal.paste(pane, { text: 'one', id: 'msg_1' }, never)
  await terminal.paste(pane, { text: 'two', id: 'msg_2' }, never)
  expect(await terminal.capture(pane, never)).toMatchObject({ pastedId: 'msg_2', title: 'ready' })
  expect(await (await open()).capture(pane, never)).toMatchObject({ pastedId: 'msg_2' })
})

test('[MUS-237] a paste into a program that has ended is refused, and the server lives on', async () => {
  const { open, request, tmux } = tempTmux()
  const terminal = await open()
  const pane = await terminal.open(request('eng-1', ['true']), never)
  await terminal.event({ kind: 'exited' })
  await expect(terminal.paste(pane, { text: 'x', id: 'm1' }, never)).rejects.toMatchObject({
    code: 'conflict',
  })
  await expect(terminal.keys(pane, { keys: ['x'] }, never)).rejects.toMatchObject({ code: 'conflict' })
  expect((await terminal.panes(never)).map(({ name }) => name)).toEqual(['eng-1'])
  expect(tmux('list-buffers')).toBe('')
  expect(terminal.events.map(({ kind }) => kind)).toEqual(['exited'])
})

test('[MUS-237] a screen has all its lines, the cursor among them, and its history on request', async () => {
  const { open, request } = tempTmux()
  const terminal = await open()
  const script = 'seq 1 30; printf "\\033]2;a  b|c\\007é%%end ✓"; exec sleep 600'
  const pane = await terminal.open(request('eng-1', ['sh', '-c', script], { width: 40, height: 12 }), never)
  await ready(terminal, pane, 'a  b|c')
  await until(async () => (await terminal.capture(pane, never)).lines.at(-1) === 'é%end ✓')
  const screen = await terminal.capture(pane, never)
  expect(screen).toEqual({
    lines: [...Array.from({ length: 11 }, (_, i) => String(i + 20)), 'é%end ✓'],
    width: 40,
    height: 12,
    cursor: { x: 7, y: 11, isVisible: true },
    isInMode: false,
    attached: 0,
    stamp: expect.stringMatching(/^7:11:\d+$/),
    title: 'a  b|c',
    drawnMs: expect.any(Number),
  })
  const long = await terminal.capture(pane, never, 5)
  expect(long.lines).toEqual([...Array.from({ length: 16 }, (_, i) => String(i + 15)), 'é%end ✓'])
  expect(long.cursor.y).toBe(16)
  expect(await terminal.capture(pane, never, 1000)).toMatchObject({
    lines: { length: 31 },
    cursor: { y: 30 },
  })
})

test('[MUS-237] blank lines below the text are kept', async () => {
  const { open, request } = tempTmux()
  const terminal = await open()
  const script = 'printf "one\\n\\033]2;ready\\007"; exec sleep 600'
  const pane = await terminal.open(request('eng-1', ['sh', '-c', script], { height: 5 }), never)
  await ready(terminal, pane)
  expect(await terminal.capture(pane, never)).toMatchObject({
    lines: ['one', '', '', '', ''],
    cursor: { x: 0, y: 1 },
  })
})
