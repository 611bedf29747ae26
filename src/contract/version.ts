import manifest from '../../package.json' with { type: 'json' }

/** The version of this code, as it is published. */
export const version: string = manifest.version

/** The wire version that this code speaks; apart from the schemas, so that `sm version` need not load them. */
export const wireVersion = 1

/** Wire versions this code speaks; the daemon accepts the newest and the one before. */
export const wireVersions = { current: wireVersion, oldest: 1 } as const
