/** A setting of git: its key and its value. */
export type GitSetting = readonly [key: string, value: string]

/**
 * Where the daemon runs git, somebody else may have written the settings of the repository. Settings in the environment
 * come after those of any file, also for a git that git starts itself: whatever is written meanwhile, these hold.
 */
const harmless: readonly GitSetting[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.editor', 'true'],
  ['sequence.editor', 'true'],
  ['core.pager', 'cat'],
  ['interactive.diffFilter', 'cat'],
  ['core.alternateRefsCommand', 'false'],
  // A signature that is made or checked is a program that runs.
  ['commit.gpgSign', 'false'],
  ['tag.gpgSign', 'false'],
  ['log.showSignature', 'false'],
  ['merge.verifySignatures', 'false'],
  ['gpg.program', 'false'],
  ['gpg.openpgp.program', 'false'],
  ['gpg.x509.program', 'false'],
  ['gpg.ssh.program', 'false'],
  ['gpg.ssh.defaultKeyCommand', 'false'],
  // A module has settings of its own.
  ['submodule.recurse', 'false'],
  ['status.submoduleSummary', 'false'],
  ['diff.submodule', 'short'],
  ['diff.ignoreSubmodules', 'dirty'],
  // What git starts in the background would outlive the step.
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['protocol.allow', 'never'],
  // A folder that only looks like a repository is none.
  ['safe.bareRepository', 'explicit'],
]

/** Which settings are the user's own; all other variables of git may be about another repository. */
const ofTheUser = new Set(['GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_CONFIG_NOSYSTEM'])

/** The environment in which git runs no program that a repository names; settings that are added come last. */
export function harmlessGit(
  env: Readonly<Record<string, string | undefined>>,
  added: readonly GitSetting[] = [],
): Record<string, string> {
  const settings = [...harmless, ...added]
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (!entry[0].startsWith('GIT_') || ofTheUser.has(entry[0])),
  )
  return {
    ...Object.fromEntries(kept),
    LC_ALL: 'C',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_EDITOR: 'true',
    GIT_SEQUENCE_EDITOR: 'true',
    GIT_PAGER: 'cat',
    // A repository that lacks objects has git fetch them, by any program that it names as a transport.
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_LAZY_FETCH: '1',
    GIT_PROXY_COMMAND: '',
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], i) => [
        [`GIT_CONFIG_KEY_${i}`, key],
        [`GIT_CONFIG_VALUE_${i}`, value],
      ]),
    ),
  }
}
