/** Where a worker's code is: beside this file, as source in a checkout and as a bundle in an install. */
export function workerEntry(name: string): URL {
  const isSource = import.meta.url.endsWith('.ts')
  return new URL(isSource ? `./${name}.ts` : `./${name}.mjs`, import.meta.url)
}
