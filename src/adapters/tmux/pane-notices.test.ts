import { expect, test } from 'vitest'
import { isOfPanes } from './pane-watch.ts'

test.each([
  ['%sessions-changed', true],
  ['%window-close @3', true],
  ['%unlinked-window-close @3', true],
  ['%unlinked-window-renamed @3 eng-1-ended', true],
  ['%window-renamed @3 eng-1-ended', true],
  ['%subscription-changed muster-dead $0 - - - : %1=0 ', true],
  // A person's windows rename themselves with every command.
  ['%unlinked-window-renamed @3 vim', false],
  ['%subscription-changed other $0 - - - : eng-1-ended', false],
  ['%layout-change @1 b25d,80x24,0,0,1', false],
  ['%exit', false],
])('[MUS-234] %s', (line, isOne) => {
  expect(isOfPanes(line)).toBe(isOne)
})
