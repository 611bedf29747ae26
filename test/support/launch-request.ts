import type { LaunchRequest } from '../../src/ports/agent-cli.ts'

/** A request to start a CLI in which only what a test is about has to be said. */
export const launchRequest = (folder: string, fields: Partial<LaunchRequest> = {}): LaunchRequest => ({
  command: '/opt/agent',
  args: [],
  version: '1.0.0',
  workingDir: '/home/dev/proj',
  name: 'worker',
  permissionMode: 'manual',
  resume: false,
  folder,
  hookUrl: 'http://127.0.0.1:9/hook',
  hookCommand: ['/opt/sm', 'hook'],
  env: { HOME: folder },
  ...fields,
})
