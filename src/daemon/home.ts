import { join } from 'node:path'

/** Every file the daemon keeps, under one private folder. */
export const homeFiles = (home: string) => ({
  home,
  journal: join(home, 'journal'),
  index: join(home, 'index.db'),
  search: join(home, 'search.db'),
  vault: join(home, 'vault'),
  vaultKey: join(home, 'vault.key'),
  operatorToken: join(home, 'operator.token'),
  grants: join(home, 'grants.json'),
  socket: join(home, 'muster.sock'),
  port: join(home, 'port'),
  log: join(home, 'daemon.log'),
  cursors: join(home, 'cursors'),
})
export type HomeFiles = ReturnType<typeof homeFiles>
