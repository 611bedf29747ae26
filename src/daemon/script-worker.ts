import { parentPort } from 'node:worker_threads'
import { parseScript } from '../adapters/scripts/parse-script.ts'
import { serveCalls } from './worker-calls.ts'

// That Node's way to take out types may change is no news for whoever runs a script.
process.removeAllListeners('warning')

if (parentPort) serveCalls(parentPort, { parse: parseScript })
