import { expect, test } from 'vitest'
import { shellWrites } from './shell-writes.ts'

test.for<[string, string[]]>([
  ['echo x > ../other', ['../other']],
  ['echo x>>a.txt; cat b', ['a.txt']],
  ['npm test 2>&1 | tee -a "out side.log"', ['out side.log']],
  ['node --test > /dev/null 2> /tmp/err', []],
  ['cd sub && echo x > a && cd .. && touch b', ['sub/a', 'sub/../b']],
  ['cd "$HOME" && echo x > a', []],
  ['A=1 touch a b', ['a', 'b']],
  ['echo \'a > b\' "c > d"', []],
  ['echo a \\> b', []],
  ['echo x > $OUT', []],
  ['rm a && rm -rf sub ../up', ['a', '../up']],
  ["sed -i 's/a/b/' a.ts b.ts", ['a.ts', 'b.ts']],
  ["sed -n 's/a/b/' a.ts", []],
  ['cp a sub && mv a ../b', ['../b']],
  ['cat > made.txt <<EOF\necho x > no\nEOF', ['made.txt']],
  ['diff <(a) b > c', []],
  ['(cd sub && make) > log', []],
  ['echo x >| a; echo y &> b', ['a', 'b']],
  ["echo 'open > a", []],
  ['touch a\\\nb', ['ab']],
  ['npm test |& tee a', ['a']],
  ['tee 2>&1x', []],
  ['', []],
])('[COL-15] %s writes %j', ([line, files]) => {
  expect(shellWrites(line)).toEqual(files)
})
