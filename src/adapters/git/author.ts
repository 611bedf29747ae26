/** Whose commits ours are; so that they can be made where no user.name is set. */
export const author = {
  GIT_AUTHOR_NAME: 'Muster',
  GIT_AUTHOR_EMAIL: 'muster@localhost',
  GIT_COMMITTER_NAME: 'Muster',
  GIT_COMMITTER_EMAIL: 'muster@localhost',
} as const
