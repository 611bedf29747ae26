import { expect, test } from 'vitest'
import { checksIn } from './checks-seen.ts'

test.each<[string, readonly string[]]>([
  ['npm test', ['tests']],
  ['npm run test:unit', ['tests']],
  ['CI=1 npx vitest run src', ['tests']],
  ['./node_modules/.bin/jest', ['tests']],
  ['node --test', ['tests']],
  ['python3 -m pytest -q', ['tests']],
  ['cd sub && go test ./...', ['tests']],
  ['cargo test 2>&1', ['tests']],
  ['npx tsc --noEmit', ['type_check']],
  ['npm run typecheck', ['type_check']],
  ['npm run typeCheck', ['type_check']],
  ['npm run type-check', ['type_check']],
  ['npx tsc --noEmit && npm test', ['tests', 'type_check']],
])('[LOG-141] a command that succeeds only with its checks: %s', (line, kinds) => {
  expect([...checksIn(line)].toSorted()).toEqual(kinds)
})

test.each([
  'ls test',
  'echo npm test',
  'cat tests/a.test.ts',
  'git log -- test',
  'npm install',
  'mvn package -DskipTests',
  'npm run build -- --skip-tests',
  'node scripts/test/make.js',
  'npm run build',
  'npm test | tail -5',
  'npm test || true',
  'npm test; echo done',
  'npm test &',
  '(npm test)',
  'echo "$(npm test)"',
  'npm test\nls',
  '',
])('[LOG-141] a command whose success shows nothing: %s', (line) => {
  expect([...checksIn(line)]).toEqual([])
})
