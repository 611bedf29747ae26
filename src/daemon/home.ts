import { join } from 'node:path'
import { homeFiles as names, sessionFiles } from '../contract/home.ts'

/** Every file the daemon keeps, under one private folder. */
export const homeFiles = (home: string) => ({
  home,
  journal: join(home, 'journal'),
  index: join(home, 'index.db'),
  search: join(home, 'search.db'),
  vault: join(home, 'vault'),
  vaultKey: join(home, 'vault.key'),
  grants: join(home, 'grants.json'),
  cursors: join(home, 'cursors'),
  sessions: join(home, sessionFiles.folder),
  collaborations: join(home, 'collaborations'),
  bin: join(home, 'bin'),
  tmux: join(home, 'tmux'),
  socket: join(home, names.socket),
  port: join(home, names.port),
  operatorToken: join(home, names.operatorToken),
  log: join(home, names.log),
})
export type HomeFiles = ReturnType<typeof homeFiles>
