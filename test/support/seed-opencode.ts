import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** OpenCode fetches a package for plugins into a new home, and waits for it; ours needs none. */
export function seedOpenCode(env: Readonly<Record<string, string>>, version: string): void {
  const folder = join(env['XDG_CONFIG_HOME'] ?? '', 'opencode')
  const name = '@opencode-ai/plugin'
  const dependencies = { [name]: version }
  const write = (file: string, content: object) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), JSON.stringify(content))
  }
  write('package.json', { dependencies })
  write(`node_modules/${name}/package.json`, { name, version })
  const packages = { '': { dependencies }, [`node_modules/${name}`]: { version } }
  write('package-lock.json', { name: 'opencode', lockfileVersion: 3, requires: true, packages })
}
