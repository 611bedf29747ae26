import type { CorpusCase } from '../corpus-case.ts'
import { endings } from './endings.ts'
import { order } from './order.ts'
import { people } from './people.ts'
import { restarts } from './restarts.ts'
import { trouble } from './trouble.ts'

/** All cases written by hand. */
export const hand: readonly CorpusCase[] = [...order, ...people, ...trouble, ...endings, ...restarts]
