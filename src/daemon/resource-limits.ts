/** What a thread beside the main one may use: most of what it makes is gone at once, and needs little room. */
export const resourceLimits = { maxYoungGenerationSizeMb: 16 } as const
