import { expect, test } from 'vitest'
import { commandOf, toolCategory } from './tool-category.ts'

const categoryOf = (tools: readonly string[]) => new Set(tools.map((tool) => toolCategory(tool, {})))
const bash = (command: string) => toolCategory('Bash', { command })

test('[LOG-112] looking is perception, changing is action, by whatever name a program has for it', () => {
  const looking = [
    'Read',
    'Glob',
    'Grep',
    'LSP',
    'WebFetch',
    'WebSearch',
    'read_file',
    'list_directory',
    'webfetch',
    'grep',
  ]
  const changing = [
    'Write',
    'Edit',
    'NotebookEdit',
    'MultiEdit',
    'write_file',
    'replace',
    'apply_patch',
    'edit',
  ]
  expect([...categoryOf(looking)]).toEqual(['perception'])
  expect([...categoryOf(changing)]).toEqual(['action'])
})

test('[LOG-113] asking, planning and keeping tasks have categories of their own', () => {
  expect([...categoryOf(['Task', 'Agent', 'delegate_to_agent', 'AskUserQuestion', 'task'])]).toEqual([
    'interaction',
  ])
  expect([...categoryOf(['EnterPlanMode', 'ExitPlanMode', 'update_plan'])]).toEqual(['planning'])
  expect([...categoryOf(['TaskCreate', 'TaskUpdate', 'TaskList', 'TodoWrite', 'todowrite'])]).toEqual([
    'task_management',
  ])
})

test('[LOG-112] an unknown tool is judged by its verb, and acts when that says nothing', () => {
  expect([
    toolCategory('mcp__github__list_issues', {}),
    toolCategory('mcp__github__create_issue', {}),
  ]).toEqual(['perception', 'action'])
  expect([
    toolCategory('searchDocs', {}),
    toolCategory('deploy', {}),
    toolCategory('constructor', {}),
  ]).toEqual(['perception', 'action', 'action'])
})

test('[LOG-114] a shell that only queries is perception', () => {
  for (const command of [
    'ls',
    'ls -la src',
    'cat a.txt',
    'pwd',
    'git status',
    'git log --oneline -5',
    'git diff HEAD~1',
    'git -C sub status',
    'git --no-pager show HEAD',
    'git branch -a',
    'git remote -v',
    'git stash list',
    'git config --get user.name',
    'grep -rn "a > b" src',
    "grep 'x; rm y' f",
    'find . -name "*.ts" -type f',
    'find . -type f | wc -l',
    'cat a | grep b | sort | uniq -c | head -5',
    'cd src && ls',
    'ls; pwd',
    'ls\npwd',
    'rg foo 2>/dev/null',
    'ls 2>&1',
    'find . -name x | xargs grep y',
    'time ls',
    'LANG=C ls',
    'sed -n "1,5p" f',
    "awk '{print $1}' f",
    'node --version',
    'npm ls',
    'npm --version',
    'jq .a f.json',
    'test -f a && cat a',
    'echo $HOME',
    'wc -l < a.txt',
    'docker ps',
    'gh pr view 3',
    '/usr/bin/ls',
    'diff a b || true',
    'head -c 10 "$FILE"',
    'ls # rm -rf /',
  ])
    expect([command, bash(command)]).toEqual([command, 'perception'])
})

test('[LOG-114] a shell that does anything else is action, and so is what cannot be seen through', () => {
  for (const command of [
    '',
    '   ',
    'rm a',
    'mkdir -p x',
    'npm test',
    'npx tsc --noEmit',
    'vitest run',
    'make',
    'git commit -m x',
    'git push',
    'git checkout -b x',
    'git branch new',
    'git stash',
    'git config user.name x',
    'git diff --output=f',
    'git -c alias.x=!rm x',
    'find . -delete',
    'find . -exec rm {} ;',
    'find . -type f -execdir rm {} +',
    'ls > out.txt',
    'ls >> out',
    'echo x>f',
    'ls 2>err.txt',
    'ls > /dev/nullx',
    'cat a | tee b',
    'ls; rm a',
    'ls && npm test',
    'cat a | sh',
    'echo $(rm a)',
    'echo `rm a`',
    'cat <<EOF\nx\nEOF',
    'ls &',
    'sudo ls',
    'curl http://x',
    'sed -i s/a/b/ f',
    'sed s/a/b/ f',
    'sort -o f f',
    'awk \'BEGIN{system("rm a")}\'',
    'xargs rm',
    'find . | xargs rm -f',
    'timeout 5 npm test',
    'if true; then ls; fi',
    '(cd a; rm b)',
    '{ ls; }',
    'echo "$(date)"',
    'diff <(ls) <(pwd)',
    "ls 'unclosed",
    'constructor',
    '__proto__ x',
    'FOO=bar',
    'hostname evil',
    'python -c 1',
    'ls '.repeat(4000),
  ])
    expect([command.slice(0, 40), bash(command)]).toEqual([command.slice(0, 40), 'action'])
})

test('[LOG-114] a command line is found in every form the programs have for it', () => {
  expect(commandOf({ command: 'ls' })).toBe('ls')
  expect(commandOf({ command: ['bash', '-lc', 'ls | wc -l'] })).toBe('ls | wc -l')
  expect(commandOf({ cmd: ['ls', 'a b'] })).toBe("ls 'a b'")
  expect(commandOf(undefined)).toBe('')
  expect(toolCategory('shell', { command: ['/bin/sh', '-c', 'git status'] })).toBe('perception')
  expect(toolCategory('run_shell_command', { command: 'rm x' })).toBe('action')
})
