import { userInfo } from 'node:os'

/** The line that brings a page to the machine at the other end of this SSH connection; nothing without one. */
export function sshForward(
  url: string,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  // client address, client port, server address, server port
  const [, , host, port] = env['SSH_CONNECTION']?.split(' ') ?? []
  if (host === undefined || port === undefined) return undefined
  const local = new URL(url).port
  const where = port === '22' ? '' : ` -p ${port}`
  return `ssh -L ${local}:127.0.0.1:${local}${where} ${env['USER'] ?? userInfo().username}@${host}`
}
