/** The wire version that this code speaks; apart from the schemas, so that `sm version` need not load them. */
export const wireVersion = 1

/** Wire versions this code speaks; the daemon accepts the newest and the one before. */
export const wireVersions = { current: wireVersion, oldest: 1 } as const
