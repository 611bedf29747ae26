/** What a folder of `src` may touch. Whatever is not allowed here is forbidden. */
export type FolderRule = {
  /** Other folders it may import; `adapters/system` names one adapter, `*` is every folder. */
  readonly folders: readonly string[]
  /** Folders it may load by `import()` only, so that they cost nothing until they are needed. */
  readonly lazily?: readonly string[]
  readonly packages: readonly string[]
  readonly usesNode: boolean
  /** Clock, chance, timers, process and console: `given` means that they come in through a port. */
  readonly world: 'given' | 'taken'
  /** Pure decisions wait for nothing. */
  readonly isSynchronous?: true
  /** The manifest of the package, for its version. */
  readonly readsManifest?: true
}

// zod is as pure as the language, and the contract speaks it.
const pure = { packages: ['zod'], usesNode: false, world: 'given' } as const

/** The architecture: who may import whom. */
export const table: Readonly<Record<string, FolderRule>> = {
  contract: { ...pure, folders: [], packages: ['zod', '@noble/hashes'], readsManifest: true },
  core: { ...pure, folders: ['contract'], isSynchronous: true },
  'session-file': { ...pure, folders: ['contract', 'core'], isSynchronous: true },
  ports: { ...pure, folders: ['contract'] },
  engine: { ...pure, folders: ['contract', 'core', 'ports'] },
  runtime: { ...pure, folders: ['contract', 'core', 'ports', 'engine'] },
  workflow: { ...pure, folders: ['contract', 'core', 'ports', 'engine'] },
  api: {
    ...pure,
    folders: ['contract', 'core', 'session-file', 'ports', 'engine', 'runtime', 'workflow'],
  },
  adapters: {
    folders: ['contract', 'ports', 'adapters/system'],
    packages: [
      'yaml',
      'acorn',
      'zod',
      '@ai-sdk/anthropic',
      '@ai-sdk/google',
      '@ai-sdk/openai',
      '@ai-sdk/openai-compatible',
      '@ai-sdk/provider',
      '@modelcontextprotocol/client',
    ],
    usesNode: true,
    world: 'taken',
  },
  http: {
    folders: ['contract', 'ports'],
    packages: ['hono', '@hono/node-server', 'zod'],
    usesNode: true,
    world: 'taken',
  },
  client: { ...pure, folders: ['contract'], packages: ['eventsource-parser'] },
  // `sm trace` draws the tree that the page draws.
  cli: {
    folders: ['contract', 'client', 'core/trace'],
    lazily: ['daemon/entries'],
    packages: ['commander', 'get-east-asian-width'],
    usesNode: true,
    world: 'taken',
  },
  ui: { folders: ['contract', 'client', 'core'], packages: [], usesNode: false, world: 'taken' },
  daemon: { folders: ['*'], packages: ['pino', 'zod'], usesNode: true, world: 'taken' },
}

/** Each folder below it is a part of its own, which the others may not import. */
export const dividedFolder = 'adapters'
