/** Loaded into a daemon from outside: writes down every signal that the watches of its sessions are told. */
import { appendFileSync } from 'node:fs'
import { SessionWatch } from '../../../src/engine/sessions/session-watch.ts'

const { prototype } = SessionWatch
type Take = (this: SessionWatch, ...told: Parameters<SessionWatch['take']>) => Promise<void>
const take = Reflect.get(prototype, 'take') as Take
const file = process.env['NOTED_SIGNALS'] ?? ''

prototype.take = function (signals, origin) {
  if (signals.length > 0) appendFileSync(file, `${JSON.stringify({ session: this.id, signals })}\n`)
  return take.call(this, signals, origin)
}
