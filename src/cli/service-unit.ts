import type { Program } from './io.ts'

/** The name of the systemd user unit. */
export const unitName = 'muster.service'

/**
 * The unit. Only the daemon's own process is ended with it: terminals and agents belong to nobody's
 * service and must survive its restart.
 */
export function serviceUnit({ node, entry }: Program, home: string): string {
  return `[Unit]
Description=Muster, a crew of coding agents
After=default.target

[Service]
Type=simple
ExecStart=${word(node)} ${word(entry)} up --foreground
Environment=${word(`MUSTER_HOME=${home}`)}
Restart=on-failure
RestartSec=2
KillMode=process

[Install]
WantedBy=default.target
`
}

/** A word of a unit file: quoted, with what systemd would expand taken literally. */
const word = (text: string): string =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%').replaceAll('$', '$$$$')}"`
