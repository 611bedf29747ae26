import manifest from '../../package.json' with { type: 'json' }

/** The version of this code, as it is published. */
export const version: string = manifest.version
