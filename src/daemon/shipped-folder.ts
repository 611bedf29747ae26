import { fileURLToPath } from 'node:url'
import { packageRoot } from './package-root.ts'

/** Where the definitions lie that come with the package. */
export function shippedFolder(kind: 'agents' | 'crews' | 'workflows'): string {
  return fileURLToPath(new URL(kind, packageRoot()))
}
