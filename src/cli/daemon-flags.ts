/**
 * What V8 is told for the daemon. Little is held and much passes through: by itself it would let new objects take
 * 128 MB, let the rest grow to several times what is held before it cleans up, and keep what it took to optimize the
 * longest functions of libraries.
 */
export const daemonFlags = [
  '--max-semi-space-size=8',
  '--heap-growing-percent=20',
  '--max-optimized-bytecode-size=16384',
] as const
