import { defineConfig } from 'vitest/config'

const pure = ['src/{contract,core,ports,client}/**/*.test.ts']

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Most of the time is spent waiting for programs: a worker for each core loses nothing.
    maxWorkers: '100%',
    projects: [
      // What has no effects leaves nothing behind for the next file, so the files share their workers.
      { extends: true, test: { name: 'pure', include: pure, pool: 'threads', isolate: false } },
      {
        extends: true,
        test: {
          name: 'real',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: pure,
          pool: 'forks',
        },
      },
    ],
  },
})
