import { parentPort, workerData } from 'node:worker_threads'
import { createRedactor, type RedactorOptions } from '../core/redaction/redactor.ts'
import type { Words } from '../engine/prepare.ts'
import { serveCalls } from './worker-calls.ts'

const redactor = createRedactor(workerData as RedactorOptions)

if (parentPort) serveCalls(parentPort, { event: (words: Words) => redactor.event(words) })
