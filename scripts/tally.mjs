// Judges a test run by vitest's JSON report: node scripts/tally.mjs REPORT CHECK-EXIT TEST-EXIT
import { readFileSync } from 'node:fs'

const [file, checkExit, testExit] = process.argv.slice(2)
const { passed, faults } = judge(readReport(file), {
  checkExit: Number(checkExit),
  testExit: Number(testExit),
})
for (const fault of faults) process.stdout.write(`${fault}\n`)
process.stdout.write(`${passed} passed, ${faults.length} failed\n`)
process.exitCode = faults.length === 0 ? 0 : 1

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    // No report means that vitest did not get as far as writing one; its exit code tells the rest.
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return undefined
    throw error
  }
}

function judge(report, { checkExit, testExit }) {
  const files = report?.testResults ?? []
  const tests = files.flatMap((result) => result.assertionResults)
  const faults = [
    ...tests.filter((test) => test.status !== 'passed').map((test) => `${test.status}: ${test.fullName}`),
    ...files
      .filter(
        (result) =>
          result.status === 'failed' && result.assertionResults.every((test) => test.status !== 'failed'),
      )
      .map((result) => `failed to load: ${result.name}`),
  ]
  if (checkExit !== 0) faults.push('failed: npm run check')
  const passed = tests.filter((test) => test.status === 'passed').length
  if (passed === 0) faults.push('failed: no test passed')
  // An error outside any test fails the run although every test passed.
  else if (testExit !== 0 && faults.length === 0) faults.push(`failed: npm test ended with exit ${testExit}`)
  return { passed, faults }
}
