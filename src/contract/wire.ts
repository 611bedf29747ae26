/** The wire version that this code speaks; apart from the schemas, so that `sm version` need not load them. */
export const wireVersion = 1
