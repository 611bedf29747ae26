import { durableSuite } from '../../../test/suites/durable.ts'
import { openLocalBed } from '../../../test/support/local-bed.ts'

durableSuite('the local runner', openLocalBed)
