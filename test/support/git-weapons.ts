import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commitFiles, put, repository, runGit } from './git-repository.ts'
import { tempFolder } from './temp-journal.ts'

/** Programs that a repository may try to have run; each leaves a mark when it does. */
export function armoury() {
  const folder = realpathSync(tempFolder('mweapon-'))
  const marks = join(folder, 'marks')
  mkdirSync(marks)
  /** The path of a program that leaves this mark. */
  const arm = (name: string, then = '') => {
    const file = join(folder, name)
    writeFileSync(file, `#!/bin/sh\n: > '${marks}/${name}'\n${then}\n`, { mode: 0o755 })
    return file
  }
  return { folder, arm, fired: () => readdirSync(marks).sort() }
}

type Arm = ReturnType<typeof armoury>['arm']

/** Every hook that a git program knows. */
const hookNames = [
  'applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg',
  'commit-msg post-commit pre-rebase post-checkout post-merge pre-push',
  'pre-receive update proc-receive post-receive post-update reference-transaction',
  'push-to-checkout pre-auto-gc post-rewrite fsmonitor-watchman post-index-change sendemail-validate',
].flatMap((line) => line.split(' '))

/** Fills a folder with hooks. */
export function plantHooks(folder: string, arm: Arm): void {
  mkdirSync(folder, { recursive: true })
  for (const name of hookNames)
    writeFileSync(join(folder, name), `#!/bin/sh\nexec '${arm(`hook-${name}`)}'\n`, { mode: 0o755 })
}

/** Settings by which git runs a program, without filters and merge drivers: those may be refused as well. */
export const plainWeapons = (arm: Arm): readonly (readonly [string, string])[] => [
  ['core.fsmonitor', arm('fsmonitor')],
  ['diff.external', arm('diff-external')],
  ['diff.evil.command', arm('diff-command')],
  ['diff.evil.textconv', arm('textconv', 'cat "$1"')],
  ['diff.submodule', 'diff'],
  ['status.submoduleSummary', 'true'],
  ['submodule.recurse', 'true'],
  ['core.sshCommand', arm('ssh')],
  ['core.gitProxy', arm('proxy')],
  ['core.askPass', arm('askpass')],
  ['core.editor', arm('editor')],
  ['sequence.editor', arm('sequence-editor')],
  ['core.pager', arm('pager', 'cat')],
  ...['diff', 'log', 'show', 'status', 'branch', 'config', 'worktree'].map(
    (name) => [`pager.${name}`, arm('pager-of-command', 'cat')] as const,
  ),
  ['credential.helper', arm('credential')],
  ['credential.https://example.org.helper', arm('credential-of-host')],
  ['gpg.program', arm('gpg')],
  ['gpg.ssh.program', arm('gpg-ssh')],
  ['gpg.ssh.defaultKeyCommand', arm('gpg-ssh-key')],
  ['gpg.x509.program', arm('gpg-x509')],
  ['commit.gpgSign', 'true'],
  ['tag.gpgSign', 'true'],
  ['log.showSignature', 'true'],
  ['merge.verifySignatures', 'true'],
  ['uploadpack.packObjectsHook', arm('pack-objects')],
  ['core.alternateRefsCommand', arm('alternate-refs')],
  ['trailer.evil.key', 'Evil'],
  ['trailer.evil.command', arm('trailer-command')],
  ['trailer.evil.cmd', arm('trailer-cmd')],
  ['gc.auto', '1'],
  ['gc.autoDetach', 'false'],
  ['gc.recentObjectsHook', arm('recent-objects')],
  ['maintenance.auto', 'true'],
  ['interactive.diffFilter', arm('diff-filter')],
  ['alias.status', `!${arm('alias')}`],
  ['alias.rev-parse', `!${arm('alias')}`],
  ['hook.evil.command', arm('configured-hook')],
  ...['pre-commit', 'post-checkout', 'reference-transaction'].map(
    (event) => ['hook.evil.event', event] as const,
  ),
]

/** A filter of each kind, for the files `*.clean` and `*.process`. */
export const filterWeapons = (arm: Arm): readonly (readonly [string, string])[] => [
  ['filter.evil.clean', arm('filter-clean', 'cat')],
  ['filter.evil.smudge', arm('filter-smudge', 'cat')],
  ['filter.evil.required', 'true'],
  ['filter.worse.process', arm('filter-process')],
]

/** Adds settings to a file of git's, as an agent would that may write it. */
export function plantSettings(file: string, settings: readonly (readonly [string, string])[]): void {
  appendFileSync(file, '')
  for (const [key, value] of settings) execFileSync('git', ['config', '--file', file, '--add', key, value])
}

/** What `hostileProject` has in its first commit. */
const files = { 'a.txt': 'a\n', 'b.clean': 'b\n', 'c.process': 'c\n', 'sub/d.txt': 'd\n' }

const signature = ['-----BEGIN PGP SIGNATURE-----', '', 'x', '-----END PGP SIGNATURE-----']

/** A repository with two commits on main, a branch that can be landed and two that conflict, and uncommitted files. */
export function hostileProject(attributes = '*.txt diff=evil\n'): string {
  const dir = realpathSync(repository())
  commitFiles(dir, { ...files, '.gitattributes': attributes })
  for (const [branch, text] of [
    ['left', 'left\n'],
    ['right', 'right\n'],
  ] as const) {
    runGit(dir, 'checkout', '-q', '-b', branch, 'main')
    commitFiles(dir, { 'a.txt': text, [`${branch}.txt`]: text })
  }
  runGit(dir, 'checkout', '-q', '-b', 'other', 'main')
  commitFiles(dir, { 'other.txt': 'x\n' })
  // A signature is what a repository gets a program run with that would check it.
  const text = runGit(dir, 'cat-file', 'commit', 'HEAD')
  const signed = text.replace(/^(committer .*)$/m, `$1\ngpgsig ${signature.join('\n ')}`)
  put(dir, { '.git/signed': `${signed}\n` })
  runGit(dir, 'reset', '-q', '--soft', runGit(dir, 'hash-object', '-t', 'commit', '-w', '.git/signed'))
  runGit(dir, 'checkout', '-q', 'main')
  return dir
}

/** The user puts the files of such a project back, with nothing that the repository could have a say in. */
export function putFilesBack(dir: string): void {
  for (const name of ['new.txt', 'new.clean']) rmSync(join(dir, name), { force: true })
  put(dir, files)
}
