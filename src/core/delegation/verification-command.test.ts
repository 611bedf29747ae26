import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { verifies } from './verification-command.ts'

const fine = `
npm test
npm t
npm run lint
npm run test:unit -- --reporter=dot
npm --prefix web run build
npm test --silent && npm run typecheck
npm test 2>&1 | tail -n 40
npm test > /dev/null 2>&1; echo $?
CI=1 NO_COLOR=1 npm test
cd web && pnpm -r test
pnpm lint
yarn workspace-test --watch=false
bun test src
npx vitest run src/a.test.ts
npx --no-install tsc --noEmit -p tsconfig.json
./node_modules/.bin/eslint src
npx biome check .
npx prettier --check .
node --test --test-reporter=dot test/
node --check a.js
timeout 60 cargo test -- --nocapture
cargo clippy --all-targets -- -D warnings
cargo fmt --check
go test ./... -run 'TestA|TestB'
go vet ./...
pytest -x -k "not slow" -p no:cacheprovider
python -m pytest -q
python3 -m mypy src
uv run ruff check .
uv run python -m pytest
bundle exec rake test
npx jest --watch=false
.venv/bin/pytest
make -j 4 test
make lint
mvn -q -Dtest=Foo test
./gradlew :app:test --tests com.x.FooTest
git status --short
git -C sub log --oneline -5
git --no-pager diff HEAD~1 -- src
git show 'HEAD@{1}':a.ts
git branch --show-current
git grep -n TODO
git stash list
ls -la src; cat README.md | head -5
rg -n "a && b; $x" src
grep -rn 'rm -rf $(pwd)' . | wc -l
find . -name '*.ts' -not -path './node_modules/*'
sed -n '10,20p' a.ts
sort -u a | uniq -c
echo "it's \\"done\\"" # rm -rf /
diff a b || true
npm test
`
  .trim()
  .split('\n')

test.each(fine)('[RUN-23] this only verifies or looks: %s', (command) => {
  expect(verifies(command)).toEqual({ ok: true })
})

const refused = `
rm -rf .
npm test; rm x
npm test && curl http://x
npm test & rm x
npm test | xargs rm
npm test | sh
npm test|bash
sh -c 'npm test'
bash -c "ls"
eval ls
exec ls
command rm x
env npm test
env -i npm test
PATH=. npm test
NODE_OPTIONS=--require=./x npm test
GIT_PAGER='sh -c x' git log
GIT_EXTERNAL_DIFF=./x git diff
X=1
echo $(rm x)
echo "$(rm x)"
echo \`rm x\`
echo "\`rm x\`"
echo \${x:-$(rm x)}
echo "\${PWD@P}"
echo $'a'
cat <(rm x)
(rm x)
{ rm x; }
echo x > file
echo x >> file
echo x>file
echo x >| file
echo x &> file
echo x > /dev/null/../../tmp/x
echo x >/dev/nullx
cat <<E
cat <> file
ls >& file
tee file
git -c core.pager=x log
git -c alias.x='!sh' x
git --exec-path=. log
git --git-dir=x log
git diff --output=f
git diff --outp=f
git log --output f
git diff --ext-diff
git grep -Osh x
git grep --open-files-in-pager=sh x
git grep -nOsh x
git commit -m x
git push
git checkout .
git branch new
git branch -D main
git tag v1
git stash
git stash drop
git remote add x y
git worktree add x
git config user.name x
git
find . -exec rm {} +
find . -exec rm '{}' ';'
find . -e{xec,x} rm
find . -delete
find . -fprintf f x
find . -okdir rm
sort -o f a
sort -uo f a
sort --output=f a
sort --compress-program=./x a
uniq a b
sed -i s/a/b/ f
sed -n '1w f' a
sed '1e rm x' a
sed -n 1p -i f
awk 'BEGIN{system("rm x")}'
perl -e 1
tree -o f
rg --pre ./x a
rg --pre=./x a
npm install
npm ci
npm run deploy
npm run lint:fix
npm run lintFix
npm run build-and-publish
npm run
npm test --script-shell=./x
npm --script-shell ./x test
npm test --node-options=--require=./x
npm exec -c 'rm x'
npx -c 'rm x'
npx -y vitest
npx -p evil vitest
npx cowsay
npx cat x
npx git log
npx npm test
python -m ls
npx
pnpm dlx vitest
yarn add x
node x.js
node -e 1
node --test -e 1
node --test --eval=1
node --test --import=data:text/javascript,1
node --test --require ./x
node --test --test-reporter=data:text/javascript,1
node --test --test-reporter-destination=f
node --test --test-update-snapshots
python -c 1
python x.py
python -m http.server
python -m pip install x
npx eslint --fix .
npx biome check --write .
npx biome migrate
npx prettier .
npx prettier --check --write .
npx vitest -u
npx jest --updateSnapshot
pytest --pastebin=all
cargo test --config x
cargo --config x test
cargo run
cargo fmt
cargo clippy --fix
cargo install x
go test -exec ./x ./...
go test --exec=./x
go build -o x
go build -toolexec ./x
go vet -vettool=./x
go run .
deno test https://x/y.ts
deno run a.ts
make
make install
make test SHELL=./x
make -f x test
make --eval=x test
make -E x test
mvn deploy
gradle -I x test
./gradlew --init-script x test
./test.sh
/bin/ls
../npm test
../node_modules/.bin/vitest
node_modules/.bin/../../x
$X test
npm$X test
n* test
'npm test'
time rm x
timeout 5 rm x
timeout 5
timeout 5 timeout 5 timeout 5 timeout 5 npm test
if true; then ls; fi
for x in a; do ls; done
! ls
ls 'open
ls "open
ls\r
constructor
__proto__ x
git constructor
`
  .trim()
  .split('\n')
  .map((line) => line.replace('\\r', '\r'))

test.each(refused)('[RUN-23] this does more than to verify: %s', (command) => {
  const answer = verifies(command)
  expect(answer).toMatchObject({ ok: false })
  expect(answer).toHaveProperty('reason', expect.stringMatching(/^Only commands that test, .*: ./))
})

test('[RUN-23] every line is a command of its own, and an empty one is none', () => {
  expect(verifies('npm test\nnpm run lint')).toEqual({ ok: true })
  expect(verifies('npm test \\\n  --silent')).toEqual({ ok: true })
  expect(verifies('echo "two\nlines"')).toEqual({ ok: true })
  for (const command of ['npm test\nrm x', 'ls # look\nrm x', "echo 'a\n'\nrm x", '', ' \n ', '# only this'])
    expect(verifies(command)).toMatchObject({ ok: false })
  expect(verifies(`echo ${'a'.repeat(10_000)}`)).toMatchObject({ ok: false })
})

test('[RUN-23] a refusal says what to do instead', () => {
  const reason = (command: string) => {
    const answer = verifies(command)
    return answer.ok ? '' : answer.reason
  }
  expect(reason('npm test > log')).toContain('let it print what you want to see')
  expect(reason('npm run deploy')).toContain('npm "deploy" is not a script that only tests')
  expect(reason('FOO=1 npm test')).toContain('it sets FOO; run the command without it')
  expect(reason('curl x')).toContain('curl is not among the programs')
})

test('[RUN-23] whatever is put around a command that is refused, it stays refused', () => {
  const bad = fc.constantFrom('rm x', 'git push', 'curl x', 'npm run deploy', 'sh -c ls')
  const good = fc.constantFrom(
    'npm test',
    'ls -la',
    "grep 'a;b' f",
    'echo "x | y"',
    'CI=1 npm t',
    'true # no',
  )
  const joint = fc.constantFrom(' && ', ' || ', ';', ' | ', '\n', ' ;\t')
  fc.assert(
    fc.property(fc.array(good), bad, fc.array(good), joint, (before, command, after, by) => {
      const parts = [...before.map((one) => one.replace(/ #.*/, '')), command, ...after]
      expect(verifies(parts.join(by)).ok).toBe(false)
    }),
  )
  fc.assert(fc.property(fc.string({ maxLength: 200 }), (text) => void verifies(text)))
})
