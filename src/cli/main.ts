import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

// The default cache folder lies under the shared temp folder, where another user could plant compiled code.
const cache = process.env['XDG_CACHE_HOME'] || join(process.env['HOME'] ?? '', '.cache')
if (cache.startsWith('/')) enableCompileCache(join(cache, 'muster', 'compiled'))

// Loaded only now: what is imported statically would be compiled before the cache is on.
const { runProgram } = await import('./run-program.ts')
await runProgram(import.meta.url)
