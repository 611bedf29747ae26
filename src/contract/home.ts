/** Files of the state folder that more than one program opens; the names are part of the contract. */
export const homeFiles = {
  socket: 'muster.sock',
  port: 'port',
  operatorToken: 'operator.token',
  log: 'daemon.log',
} as const

/** The folder of each session under the state folder, and the file of its own token in it. */
export const sessionFiles = { folder: 'sessions', token: 'token' } as const

/** Environment variables that Muster reads or sets. */
export const environmentNames = {
  home: 'MUSTER_HOME',
  config: 'MUSTER_CONFIG',
  token: 'MUSTER_TOKEN',
  session: 'MUSTER_SESSION',
  parent: 'MUSTER_PARENT',
  depth: 'MUSTER_DEPTH',
  bashEnv: 'MUSTER_BASH_ENV',
  isolation: 'MUSTER_ISOLATION',
  /** Which call of a tool a process belongs to. */
  call: 'MUSTER_CALL',
} as const

// The smallest limit of the systems we run on (macOS has 104 bytes with the closing zero, Linux 108).
const longestSocketPath = 103

/** The path of the daemon's socket, or nothing when it is too long for one: then the port is used. */
export function socketPath(home: string): string | undefined {
  const path = `${home}/${homeFiles.socket}`
  return new TextEncoder().encode(path).length > longestSocketPath ? undefined : path
}
