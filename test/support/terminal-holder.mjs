/** `node terminal-holder.mjs SOCKET FOLDER`: opens a terminal as a daemon would, tells of it, and asks for ever. */
import { systemClock } from '../../src/adapters/system/clock.ts'
import { openTmux } from '../../src/adapters/tmux/open-tmux.ts'

const [socket, folder] = process.argv.slice(2)
const terminal = await openTmux({ socket, folder, clock: systemClock })
const never = new AbortController().signal
const opened = await terminal.open(
  {
    name: 'held',
    owner: 'holder',
    workingDir: folder,
    env: { PATH: process.env.PATH },
    argv: ['sleep', '600'],
    folder,
    width: 80,
    height: 24,
  },
  never,
)
process.stdout.write(`${JSON.stringify(opened)}\n`)
for (;;) await terminal.panes(never)
