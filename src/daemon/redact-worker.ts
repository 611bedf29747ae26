import { parentPort, workerData } from 'node:worker_threads'
import type { Draft } from '../contract/event.ts'
import { createRedactor, type RedactorOptions } from '../core/redaction/redactor.ts'
import { serveCalls } from './serve-calls.ts'

const redactor = createRedactor(workerData as RedactorOptions)

if (parentPort) serveCalls(parentPort, { event: (draft: Draft) => redactor.event(draft) })
